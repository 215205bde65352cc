import type { ReadyAgent } from '../../agents/registry.ts';
import type { JsonObject, Message } from '../../context/message.ts';
import { fixedTokens } from '../../models/counting/fixed-tokens.ts';
import { ModelError } from '../../models/errors/model-error.ts';
import type { Counter, Counting } from '../../models/counting/counting.ts';
import { isLanefoldError } from '../../errors.ts';
import { budget, type Budgeted } from '../../policy/budget.ts';
import type { DroppedRange } from '../../policy/dropped.ts';
import { estimate } from '../../policy/estimate.ts';
import type { PlacedMessage } from '../../policy/groups.ts';
import { toolTokens } from '../../policy/heuristic.ts';
import { limitsOf, type Limits } from '../../policy/limits.ts';
import { withPrompt } from '../../policy/place.ts';
import type { StoredPolicy } from '../../policy/policy.ts';
import { chosen } from '../../policy/projector.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { policyRefs, sentMessage } from '../../policy/sent.ts';
import { within } from '../../time-limit.ts';
import { RunContext } from './context.ts';

/** A context as a policy lets it through. */
export interface FittedContext {
  sent: RunContext;
  /** For the log: see `policyRefs`. */
  refs: JsonObject;
  /** Tokens of the request by the heuristic, to compare with what the provider reports. */
  estimated: number;
  /** This call had to drop more than the ones before, or keeps more than the budget allows. */
  overBudget: boolean;
}

/** The request a context is fitted for. */
export interface FitRequest {
  model: string;
  /** Undefined: the policy of runs without any. */
  policy: StoredPolicy | undefined;
  tools: readonly object[];
  maxOutputTokens: number | undefined;
}

/** What fitting remembers between the calls of a run, so that a call costs what is new in it. */
interface FitState {
  tokens: WeakMap<Message, number>;
  counter: string;
  hash?: string;
  dropped: readonly DroppedRange[];
  /** The messages of the last request, and how many of the context they were made of. */
  sent?: RunContext;
  upTo: number;
  /** Tokens of the last request, and those it might have. */
  used?: number;
  budget?: number | null;
}

/** By the context they belong to, which needs to know nothing of policies. */
const states = new WeakMap<RunContext, FitState>();

/** Counted once for a model: a message of a context never changes. */
const counted = new WeakMap<Message, { model: string; tokens: number }>();
function heuristicTokens(counting: Counting, model: string, messages: readonly Message[]): number {
  const heuristic = counting.heuristicOf(model);
  let sum = 0;
  for (const message of messages) {
    let known = counted.get(message);
    if (known?.model !== model) counted.set(message, (known = { model, tokens: heuristic(message) }));
    sum += known.tokens;
  }
  return sum;
}

export const defaultPolicy = readPolicy('window');
/** A cut leaves this share of the budget: the lower, the longer a provider's cache lasts until the next one. */
const lowWater = 0.7;
const projectorTimeoutMs = 2_000;

/**
 * Fits a context into what its policy and the model allow. A cut of an earlier call stays in force; it moves only when the
 * rest no longer fits. Returns undefined where there is no policy and the model's window is unknown: everything is sent.
 *
 * @throws ModelError `context_policy` where the policy demands a window that is unknown
 */
export async function fitContext(
  counting: Counting,
  context: RunContext,
  { model, policy: given, tools, maxOutputTokens }: FitRequest,
): Promise<FittedContext | undefined> {
  const window = await counting.windowOf(model);
  if (!given && window === undefined) return undefined;
  const policy = given ?? defaultPolicy;
  const limits = limitsFor(policy, { model, window, maxOutputTokens });
  const marks: string[] = window === undefined && policy.max_input_tokens === undefined ? ['unknown_window'] : [];
  const counter = await counting.counterOf(policy.token_estimator, model);
  if (counter.name !== policy.token_estimator && policy.token_estimator !== 'exact') marks.push('estimator_unknown');
  const state = stateOf(context, counter, limits);
  const messages = withPrompt(context.placed, policy.system_prompt);
  const { tokens, mark } = await count(state, messages, counter, model);
  if (mark) marks.push(mark);
  // sent with every call, like the tools
  const fixed = fixedTokens(counting, model, { tools, instructions: context.instructions });
  const options = { toolTokens: Math.ceil(fixed * counter.ratio), dropped: state.dropped, lowWater };
  const projected =
    policy.projector === undefined ? undefined : await project(counting, messages, tokens, policy, limits, options);
  if (projected === 'failed') marks.push('projector_failed');
  const budgeted = typeof projected === 'object' ? projected : budget(messages, tokens, policy, limits, options);
  const { sent, summaryAsSystem } = assemble(context, state, messages, budgeted, policy);
  state.dropped = budgeted.dropped;
  const refs = {
    ...(given || budgeted.dropped.length > 0 ? policyRefs(policy, limits, budgeted, summaryAsSystem) : {}),
    estimated_tokens: budgeted.meta.estimated_tokens + options.toolTokens,
    ...(marks.length > 0 ? { policy_marks: marks } : {}),
  };
  const estimated = heuristicTokens(counting, model, sent.messages) + toolTokens(tools);
  state.used = refs.estimated_tokens;
  state.budget = limits.budget;
  return { sent, refs, estimated, overBudget: budgeted.moved || budgeted.meta.over_budget };
}

/** Tokens the requests of an agent may have; null: no limit that anybody knows. */
export async function budgetOf(
  counting: Counting,
  model: string,
  { contextPolicy: policy = defaultPolicy, settings }: Pick<ReadyAgent, 'contextPolicy' | 'settings'>,
): Promise<number | null> {
  const window = await counting.windowOf(model);
  return limitsFor(policy, { model, window, maxOutputTokens: settings.max_output_tokens }).budget;
}

/** Which share of its budget the last request of a context had; undefined where it had none. */
export function fullness(context: RunContext): number | undefined {
  const { used, budget } = states.get(context) ?? {};
  return used === undefined || budget == null ? undefined : used / budget;
}

function limitsFor(policy: StoredPolicy, of: Parameters<typeof limitsOf>[1]): Limits {
  try {
    return limitsOf(policy, of);
  } catch (error) {
    if (!isLanefoldError(error, 'unknown_window')) throw error;
    throw new ModelError(`${error.message} ${error.hint}`, { errorType: 'context_policy', retryable: false });
  }
}

/** What the last call left, as far as it still holds: another policy, or another model, begins with no cut. */
function stateOf(context: RunContext, counter: Counter, limits: Limits): FitState {
  const known = states.get(context);
  const logged = known ? undefined : context.loggedCut;
  const state: FitState = {
    tokens: known?.counter === counter.name ? known.tokens : new WeakMap(),
    counter: counter.name,
    hash: limits.hash,
    dropped: [],
    upTo: 0,
  };
  if (known?.hash === limits.hash) Object.assign(state, { dropped: known.dropped, sent: known.sent, upTo: known.upTo });
  else if (logged?.policy_hash === limits.hash) state.dropped = logged.dropped;
  states.set(context, state);
  return state;
}

async function count(
  state: FitState,
  messages: readonly PlacedMessage[],
  { count: estimator, ratio }: Counter,
  model: string,
): Promise<{ tokens: number[]; mark?: string }> {
  const fresh = messages.filter(({ message }) => !state.tokens.has(message)).map(({ message }) => message);
  const { tokens, fallback } = await estimate(fresh, estimator, model);
  fresh.forEach((message, i) => state.tokens.set(message, tokens[i]!));
  return {
    tokens: messages.map(({ message }) => Math.ceil(state.tokens.get(message)! * ratio)),
    ...(fallback ? { mark: fallback.mark } : {}),
  };
}

async function project(
  counting: Counting,
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  policy: StoredPolicy,
  limits: Limits,
  { toolTokens }: { toolTokens: number },
): Promise<Budgeted | 'failed'> {
  try {
    const choose = counting.projector(policy.projector!);
    const room = limits.budget === null ? null : limits.budget - toolTokens;
    const input = { messages: messages.map(({ message, seq }) => ({ ...message, seq })), tokens, budget: room };
    const asked = { ...structuredClone(input), policy: { ...policy } as unknown as JsonObject };
    const choice = await within(projectorTimeoutMs, Promise.resolve(choose(asked)));
    return chosen(messages, tokens, choice, { budget: limits.budget, toolTokens });
  } catch {
    return 'failed';
  }
}

/** The messages to send: those of the last call and what is new, or all again where something else changed. */
function assemble(
  context: RunContext,
  state: FitState,
  messages: readonly PlacedMessage[],
  { included, moved }: Budgeted,
  policy: StoredPolicy,
): { sent: RunContext; summaryAsSystem: boolean } {
  const reuse = state.sent && !moved && policy.projector === undefined ? state.sent : undefined;
  const sent = reuse ?? new RunContext([], context.instructions);
  for (let i = reuse ? state.upTo : 0; i < messages.length; i++) {
    if (included[i]) sent.push(sentMessage(messages[i]!, sent.messages.at(-1), policy));
  }
  state.sent = sent;
  state.upTo = messages.length;
  const prompts = sent.messages.filter(({ role }) => role === 'system').length;
  return { sent, summaryAsSystem: prompts > (messages[0]?.message.role === 'system' ? 1 : 0) };
}
