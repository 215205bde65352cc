import type { JsonObject, Message } from '../context/message.ts';
import { budget, type Budgeted } from '../policy/budget.ts';
import { type DroppedRange, type PlacedMessage, withPrompt } from '../policy/groups.ts';
import { estimate, toolTokens } from '../policy/estimate.ts';
import { type Limits, windowReserve, unknownWindow, type StoredPolicy } from '../policy/policy.ts';
import { type ContextPolicy } from '../policy/types.ts';
import { chosen } from '../policy/projector.ts';
import { timed } from '../../base/common/timer.ts';
import type { Counter, Counting } from './counting.ts';
import { contextWindow } from './catalog.ts';

/** The model call a context is cut for. */
interface CutRequest extends FixedParts {
  model: string;
  policy: StoredPolicy;
  limits: Limits;
}

/** Results of earlier calls: the cut in force, and the token counts of known messages, to which new ones are added. */
interface Recalled {
  dropped: readonly DroppedRange[];
  tokens: WeakMap<Message, number>;
}

/** A context and the part of it that is sent. */
export interface CutContext extends Budgeted {
  /** The messages of the context, with the policy's system prompt in place of the lane's. */
  messages: readonly PlacedMessage[];
  /** Tokens of each message. */
  tokens: number[];
  /** The estimator used in this call if the policy's own failed. */
  fallback: string | undefined;
  /** Tokens of everything sent besides the messages. */
  toolTokens: number;
  /** Why the policy's projector failed, so that the built-in rules chose instead. */
  projectorError?: unknown;
}

/**
 * A cut shrinks the context to this share of the budget: the lower it is, the longer a provider's cache stays valid
 * before the next cut.
 */
const lowWater = 0.7;
const projectorTimeoutMs = 2_000;

/**
 * Cuts a context for a model call, as runs do. The cut of an earlier call stays in force until the rest no longer fits;
 * then it moves and leaves room for more messages.
 *
 * @param counter of the policy's estimator: see `Counting.counterOf`
 * @param recalled results of earlier calls that used this counter
 * @param full fills the whole budget instead, to see what the budget alone would drop
 */
export async function cutContext(
  counting: Counting,
  placed: readonly PlacedMessage[],
  { model, policy, limits, ...fixed }: CutRequest,
  counter: Counter,
  { dropped, tokens: known }: Recalled,
  { full = false } = {},
): Promise<CutContext> {
  const messages = withPrompt(placed, policy.system_prompt);
  const fresh = messages.filter(({ message }) => !known.has(message)).map(({ message }) => message);
  const counted = await estimate(fresh, counter.count, model);
  fresh.forEach((message, i) => known.set(message, counted.tokens[i]!));
  const tokens = messages.map(({ message }) => Math.ceil(known.get(message)! * counter.ratio));
  // sent with every call, like the tools
  const toolTokens = Math.ceil(fixedTokens(counting, model, fixed) * counter.ratio);
  const shared = { messages, tokens, fallback: counted.fallback?.mark, toolTokens };
  let projectorError: unknown;
  if (policy.projector !== undefined) {
    try {
      return { ...shared, ...(await project(counting, messages, tokens, policy, limits, toolTokens)) };
    } catch (error) {
      projectorError = error;
    }
  }
  const options = { toolTokens, dropped: full ? [] : dropped, lowWater: full ? 1 : lowWater };
  const budgeted = budget(messages, tokens, policy, limits, options);
  return { ...shared, ...budgeted, ...(projectorError === undefined ? {} : { projectorError }) };
}

async function project(
  counting: Counting,
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  policy: StoredPolicy,
  limits: Limits,
  toolTokens: number,
): Promise<Budgeted> {
  const choose = counting.projector(policy.projector!);
  const room = limits.budget === null ? null : limits.budget - toolTokens;
  const input = { messages: messages.map(({ message, seq }) => ({ ...message, seq })), tokens, budget: room };
  const asked = { ...structuredClone(input), policy: { ...policy } as unknown as JsonObject };
  const late = () => new Error(`no answer within ${projectorTimeoutMs} ms`);
  const choice = await timed(() => choose(asked), { ms: projectorTimeoutMs, late });
  return chosen(messages, tokens, choice, { budget: limits.budget, toolTokens });
}

/** The parts of a model call besides its messages. */
export interface FixedParts {
  tools: readonly object[];
  /** Instructions of an output contract, which are in no message of the log. */
  instructions?: string | undefined;
}

/** Their tokens by the heuristic; no policy can drop them. */
const fixedTokens = (
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  { tools, instructions }: FixedParts,
): number =>
  toolTokens(tools) +
  (instructions === undefined ? 0 : counting.heuristicOf(model)({ role: 'system', content: instructions }));

/**
 * A policy with the context window of a model as its limit, for runs on any model: to try a smaller window, or to keep
 * a thread small enough for another model. A run does not need it for its own model, whose window always applies.
 *
 * @param model `provider:model`, no alias
 * @param options `contextWindows` as in `createLanefold`
 * @throws LanefoldError `unknown_window`
 *
 * @example
 * ```ts
 * import { defineAgent, policyForModel } from 'lanefold';
 *
 * const contextPolicy = { ...(await policyForModel('openai:gpt-4o-mini')), keepLastTurns: 5 };
 * defineAgent({ name: 'support', model: 'scripted:demo', contextPolicy });
 * ```
 */
export async function policyForModel(
  model: string,
  { contextWindows }: { contextWindows?: Record<string, number> } = {},
): Promise<ContextPolicy> {
  const window = await contextWindow(model, contextWindows);
  if (window === undefined) throw unknownWindow(model);
  return { maxInputTokens: window, reserveOutputTokens: windowReserve(window) };
}
