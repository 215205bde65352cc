import type { Message, ModelTurn, Usage } from '../context/message.ts';
import {
  Calibration,
  heuristicTokens,
  toolTokens,
  type Calibrated,
  type TokenEstimator,
  type FileTokens,
} from '../policy/estimate.ts';
import type { ContextProjector } from '../policy/projector.ts';
import { LanefoldError } from '../../base/errors.ts';
import {
  configuredWindow,
  contextWindow,
  listPrice,
  ownPrice,
  type Priced,
  type PriceOf,
  type SpentTokens,
} from './catalog.ts';
import { fileTokensOf } from './file-tokens.ts';

/** The windows, estimators and projectors that policies refer to. */
interface CountingOptions {
  /** Context windows in tokens, by `provider:model` or by provider; they take precedence over the built-in table. */
  contextWindows?: Record<string, number> | undefined;
  /** Token estimators that policies may name. */
  tokenEstimators?: Record<string, TokenEstimator> | undefined;
  /** Projectors that policies may name. */
  projectors?: Record<string, ContextProjector> | undefined;
  /** Your own prices, in US dollars; where it returns undefined, the list price of the provider applies. */
  priceOf?: PriceOf | undefined;
}

/** How the tokens of a model are counted. */
export interface Counter {
  /** `heuristic`, `calibrated`, `exact`, or the name of a custom estimator. */
  name: string;
  count: TokenEstimator;
  /** Factor applied to every count. */
  ratio: number;
}

/** The facts about models that a policy needs: windows, tokenizers and projectors. */
export interface Counting {
  windowOf(model: string): Promise<number | undefined>;
  /** Whether `contextWindows` gives its window. */
  isConfigured(model: string): boolean;
  /** The estimator a policy names; `calibrated` in place of `exact` where the model has no published tokenizer. */
  counterOf(estimator: string, model: string): Promise<Counter>;
  /** Tokens of a message by the heuristic; images by the formula of the model. */
  heuristicOf(model: string): (message: Message) => number;
  projector(name: string): ContextProjector;
  /** Rejects names in a policy that this process does not know. @throws LanefoldError `invalid_policy` */
  check(policy: { token_estimator: string; projector?: string }): void;
  calibrationOf(model: string): Calibrated;
  /** Your own price or the list price; undefined if neither is known. */
  priced(model: string, spent: SpentTokens, at: Date): Promise<Priced | undefined>;
  /** The same in US dollars. */
  priceOf(model: string, spent: SpentTokens, at: Date): Promise<number | undefined>;
  /** Calibrates with the input tokens that a provider reports; `estimated` is the heuristic's count. */
  observe(model: string, estimated: number, reported: number): void;
}

const builtIn = ['heuristic', 'calibrated', 'exact'];

export function createCounting(options: CountingOptions = {}, modelOf: (id: string) => string = (id) => id): Counting {
  const { contextWindows = {}, tokenEstimators = {}, projectors = {}, priceOf: own } = options;
  assertWindows(contextWindows);
  assertFunctions('tokenEstimators', tokenEstimators);
  assertFunctions('projectors', projectors);
  const calibration = new Calibration();
  const named = <T>(map: Record<string, T>, name: string): T | undefined =>
    Object.hasOwn(map, name) ? map[name] : undefined;
  const heuristicOf = (model: string) => {
    const fileTokens = fileTokensOf(modelOf(model));
    return (message: Message) => heuristicTokens(message, fileTokens);
  };
  const priced = async (model: string, spent: SpentTokens, at: Date) =>
    (own && (await ownPrice(own, modelOf(model), spent, at))) ?? (await listPrice(modelOf(model), spent, at));
  return {
    heuristicOf,
    windowOf: (model) => contextWindow(modelOf(model), contextWindows),
    isConfigured: (model) => configuredWindow(modelOf(model), contextWindows) !== undefined,
    async counterOf(estimator, model) {
      const given = named(tokenEstimators, estimator);
      if (given) return { name: estimator, count: given, ratio: 1 };
      const exact = estimator === 'exact' ? await exactTokens(modelOf(model)) : undefined;
      if (exact) return { name: 'exact', count: exact, ratio: 1 };
      if (estimator === 'heuristic') return { name: estimator, count: heuristicOf(model), ratio: 1 };
      return { name: 'calibrated', count: heuristicOf(model), ratio: calibration.of(modelOf(model)).ratio };
    },
    projector(name) {
      const found = named(projectors, name);
      if (found) return found;
      throw unknown('projector', name, Object.keys(projectors));
    },
    check({ token_estimator: estimator, projector }) {
      const estimators = [...builtIn, ...Object.keys(tokenEstimators)];
      if (!estimators.includes(estimator)) throw unknown('token estimator', estimator, estimators);
      if (projector !== undefined) this.projector(projector);
    },
    calibrationOf: (model) => calibration.of(modelOf(model)),
    priced,
    priceOf: async (model, spent, at) => (await priced(model, spent, at))?.cost,
    observe: (model, estimated, reported) => calibration.observe(modelOf(model), estimated, reported),
  };
}

const unknown = (what: string, name: string, known: string[]): LanefoldError =>
  new LanefoldError(
    'invalid_policy',
    `The context policy names a ${what} that does not exist: ${JSON.stringify(name)}.`,
    {
      hint: `Known: ${known.join(', ') || 'none; register it with createLanefold'}.`,
      details: { name, known },
    },
  );

function assertWindows(windows: Record<string, number>): void {
  for (const [model, tokens] of Object.entries(windows)) {
    if (Number.isSafeInteger(tokens) && tokens > 0) continue;
    throw new LanefoldError(
      'invalid_input',
      `contextWindows must give ${JSON.stringify(model)} a whole number of tokens above 0.`,
      {
        hint: 'Pass contextWindows: { "provider:model": 128000 }.',
      },
    );
  }
}

function assertFunctions(option: string, functions: Record<string, unknown>): void {
  for (const [name, given] of Object.entries(functions)) {
    if (typeof given === 'function' && !builtIn.includes(name)) continue;
    throw new LanefoldError(
      'invalid_input',
      `${option} may not have ${JSON.stringify(name)}: it is not a function, or the name is built in.`,
      {
        hint: `Built-in names: ${builtIn.join(', ')}.`,
      },
    );
  }
}

type Encoding = 'o200k_base' | 'cl100k_base';

/** OpenAI publishes its encodings by the first part of the model's name; no other provider has a tokenizer to load. */
const encodings: [RegExp, Encoding][] = [
  [/^(gpt-4o|gpt-4\.[15]|gpt-5|chatgpt-4o|o[134](-|$))/, 'o200k_base'],
  [/^(gpt-4|gpt-3\.5)/, 'cl100k_base'],
];

/** From OpenAI's cookbook: three tokens and a role frame each message. */
const perMessage = 4;
const perCall = 8;

/** The tokenizer takes quadratic time per word, so a long run of text without spaces, or of spaces, would block the process. */
const maxWord = 200;

/** Counts the exact tokens of a model's messages; undefined if its provider publishes no tokenizer for it. */
export async function exactTokens(model: string): Promise<((message: Message) => number) | undefined> {
  const name = model.startsWith('openai:') ? model.slice('openai:'.length) : '';
  const encoding = encodings.find(([pattern]) => pattern.test(name))?.[1];
  if (!encoding) return undefined;
  const { countTokens } = await load(encoding);
  const count = (text: string): number =>
    pieces(text).reduce((sum, piece) => sum + countTokens(piece, { disallowedSpecial: new Set() }), 0);
  const fileTokens = fileTokensOf(model);
  return (message) => messageTokens(message, count, fileTokens);
}

const load = (encoding: Encoding) =>
  encoding === 'o200k_base'
    ? import('gpt-tokenizer/encoding/o200k_base')
    : import('gpt-tokenizer/encoding/cl100k_base');

function messageTokens(message: Message, count: (text: string) => number, fileTokens: FileTokens): number {
  const { content, tool_calls: calls = [] } = message;
  let tokens = perMessage;
  if (typeof content === 'string') tokens += count(content);
  else {
    for (const part of content) {
      if (part.type === 'file') tokens += fileTokens(part);
      else tokens += count(part.type === 'text' && typeof part.text === 'string' ? part.text : JSON.stringify(part));
    }
  }
  for (const call of calls)
    tokens += perCall + count(call.name) + count(call.arguments_raw ?? JSON.stringify(call.arguments));
  return tokens;
}

/** The text, cut inside words and blanks that are too long for the tokenizer. */
function pieces(text: string): string[] {
  const cut: string[] = [];
  let at = 0;
  for (const { 0: word, index } of text.matchAll(/\S+|\s+/g)) {
    if (word.length < maxWord) continue;
    if (index > at) cut.push(text.slice(at, index));
    for (let i = 0; i < word.length; i += maxWord) cut.push(word.slice(i, i + maxWord));
    at = index + word.length;
  }
  cut.push(text.slice(at));
  return cut;
}

/** The request that a turn answers. */
interface Asked {
  model: string;
  messages: readonly Message[];
  tools: readonly object[];
}

/**
 * The tokens of a call, with estimates in place of counts that the provider did not report; otherwise its tokens would
 * count as nothing, and no limit would stop it. `estimated_tokens` says how many of the total are estimates.
 */
export function estimateUsage(
  counting: Pick<Counting, 'heuristicOf' | 'calibrationOf'>,
  { model, messages, tools }: Asked,
  turn: ModelTurn,
): Usage {
  const { usage } = turn;
  const missing = { input: usage.input_tokens === 0, output: usage.output_tokens === 0 && !isEmpty(turn) };
  if (!missing.input && !missing.output) return usage;
  const whole = usage.input_tokens + usage.output_tokens === 0 ? usage.total_tokens : 0;
  const estimated = missing.input ? estimateInput(counting, model, messages, tools) : 0;
  if (whole > 0) {
    // reported as a sum only, so the parts are estimates
    const input_tokens = isEmpty(turn) ? whole : Math.min(estimated, whole);
    return { ...usage, input_tokens, output_tokens: whole - input_tokens, estimated_tokens: whole };
  }
  const written = missing.output ? answerTokens(counting, model, turn) : 0;
  const input_tokens = usage.input_tokens + estimated;
  const output_tokens = usage.output_tokens + written;
  const total_tokens = input_tokens + output_tokens;
  return { ...usage, input_tokens, output_tokens, total_tokens, estimated_tokens: estimated + written };
}

const isEmpty = ({ text, thinking, toolCalls }: ModelTurn): boolean =>
  text === '' && !thinking && toolCalls.length === 0;

const answerTokens = (
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  { text, thinking, toolCalls }: ModelTurn,
): number =>
  counting.heuristicOf(model)({
    role: 'assistant',
    content: text,
    tool_calls: toolCalls,
    ...(thinking === undefined ? {} : { thinking }),
  });

/** Each message is counted once per model, because messages of a context never change. */
const counted = new WeakMap<Message, { model: string; tokens: number }>();

/** Tokens of a request by the heuristic, as calibration compares them with the provider's reports. */
export function requestTokens(
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  messages: readonly Message[],
  tools: readonly object[],
): number {
  const heuristic = counting.heuristicOf(model);
  let sum = toolTokens(tools);
  for (const message of messages) {
    let known = counted.get(message);
    if (known?.model !== model) counted.set(message, (known = { model, tokens: heuristic(message) }));
    sum += known.tokens;
  }
  return sum;
}

/** About how many input tokens a request has, by the heuristic as the provider's reports have calibrated it. */
export const estimateInput = (
  counting: Pick<Counting, 'heuristicOf' | 'calibrationOf'>,
  model: string,
  messages: readonly Message[],
  tools: readonly object[],
): number =>
  Math.ceil(requestTokens(counting, model, messages, tools) * Math.max(1, counting.calibrationOf(model).ratio));
