import type { Message, ModelTurn, Usage } from '../context/message.ts';
import type { Counting } from './counting.ts';
import { toolTokens } from '../policy/estimate.ts';

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
