import type { ReadyAgent } from '../../agents/registry.ts';
import type { JsonObject, Message } from '../../context/message.ts';
import { ModelError } from '../../models/errors/model-error.ts';
import type { Counter, Counting } from '../../models/counting/counting.ts';
import { cutContext, type CutContext } from '../../models/counting/cut-context.ts';
import { isLanefoldError } from '../../errors.ts';
import type { DroppedRange } from '../../policy/dropped.ts';
import { toolTokens } from '../../policy/heuristic.ts';
import { limitsOf, type Limits } from '../../policy/limits.ts';
import type { StoredPolicy } from '../../policy/policy.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { policyRefs, sentMessage } from '../../policy/sent.ts';
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
  let state!: FitState;
  const { instructions } = context;
  const cut = await cutContext(counting, context.placed, { model, policy, limits, tools, instructions }, (counter) => {
    return (state = stateOf(context, counter, limits));
  });
  const { counter, toolTokens: fixed } = cut;
  const marks = [
    ...(window === undefined && policy.max_input_tokens === undefined ? ['unknown_window'] : []),
    ...(counter.name !== policy.token_estimator && policy.token_estimator !== 'exact' ? ['estimator_unknown'] : []),
    ...(cut.fallback === undefined ? [] : [cut.fallback]),
    ...(cut.projectorError === undefined ? [] : ['projector_failed']),
  ];
  const { sent, summaryAsSystem } = assemble(context, state, cut, policy);
  state.dropped = cut.dropped;
  const refs = {
    ...(given || cut.dropped.length > 0 ? policyRefs(policy, limits, cut, summaryAsSystem) : {}),
    estimated_tokens: cut.meta.estimated_tokens + fixed,
    ...(marks.length > 0 ? { policy_marks: marks } : {}),
  };
  const estimated = heuristicTokens(counting, model, sent.messages) + toolTokens(tools);
  state.used = refs.estimated_tokens;
  state.budget = limits.budget;
  return { sent, refs, estimated, overBudget: cut.moved || cut.meta.over_budget };
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

/** The messages to send: those of the last call and what is new, or all again where something else changed. */
function assemble(
  context: RunContext,
  state: FitState,
  { messages, included, moved }: CutContext,
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
