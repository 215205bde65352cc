import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { JsonObject, Message } from '../../agent/context/message.ts';
import { ModelError } from '../../agent/models/model-error.ts';
import { requestTokens, type Counter, type Counting } from '../../agent/models/counting.ts';
import { cutContext, type CutContext } from '../../agent/models/cut-context.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { loggedDropped, type DroppedRange } from '../../agent/policy/groups.ts';
import { limitsOf, type Limits, limitsWithin, type ContextRoom, type StoredPolicy } from '../../agent/policy/policy.ts';
import { readPolicy } from '../../agent/policy/read-policy.ts';
import { policyRefs, sentMessage } from '../../agent/policy/budget.ts';
import { RunContext } from './context.ts';

/** A context after its policy was applied. */
export interface FittedContext {
  sent: RunContext;
  /** For the log: see `policyRefs`. */
  refs: JsonObject;
  /** Tokens of the request by the heuristic, to compare with what the provider reports. */
  estimated: number;
  /** This call had to drop more than earlier ones, or keeps more than the budget allows. */
  overBudget: boolean;
}

/** The request a context is fitted for. */
export interface FitRequest {
  model: string;
  /** Undefined: the default policy applies. */
  policy: StoredPolicy | undefined;
  tools: readonly object[];
  maxOutputTokens: number | undefined;
  /** What the model takes, as a refusal has shown. */
  room?: ContextRoom | undefined;
}

/** State kept between the calls of a run, so that each call processes only its new messages. */
interface FitState {
  tokens: WeakMap<Message, number>;
  counter: string;
  hash?: string;
  dropped: readonly DroppedRange[];
  /** The messages of the last request, and the number of context messages they were chosen from. */
  sent?: RunContext;
  upTo: number;
  /** Tokens of the last request, and its budget. */
  used?: number;
  budget?: number | null;
}

/** By context; kept here so that RunContext need not know about policies. */
const states = new WeakMap<RunContext, FitState>();

export const defaultPolicy = readPolicy('window');

/**
 * Cuts a context to what its policy and the model allow. An earlier cut stays in force and moves only when the rest no
 * longer fits. Returns undefined, and everything is sent, if there is no policy and the window is unknown.
 *
 * @throws ModelError `context_policy` where the policy demands a window that is unknown
 */
export async function fitContext(
  counting: Counting,
  context: RunContext,
  { model, policy: given, tools, maxOutputTokens, room }: FitRequest,
): Promise<FittedContext | undefined> {
  const window = await counting.windowOf(model);
  if (!given && window === undefined && !room) return undefined;
  const policy = given ?? defaultPolicy;
  const limits = limitsWithin(limitsFor(policy, { model, window, maxOutputTokens }), policy, room);
  const { instructions } = context;
  const counter = await counting.counterOf(policy.token_estimator, model);
  const state = stateOf(context, counter, limits);
  const request = { model, policy, limits, tools, instructions };
  const cut = await cutContext(counting, context.placed, request, counter, state);
  const marks = [
    ...(room ? ['learnt_window'] : []),
    ...(window === undefined && policy.max_input_tokens === undefined && !room ? ['unknown_window'] : []),
    ...(counter.name !== policy.token_estimator && policy.token_estimator !== 'exact' ? ['estimator_unknown'] : []),
    ...(cut.fallback === undefined ? [] : [cut.fallback]),
    ...(cut.projectorError === undefined ? [] : ['projector_failed']),
  ];
  const { sent, summaryAsSystem } = assemble(context, state, cut, policy);
  state.dropped = cut.dropped;
  const refs = {
    ...(given || cut.dropped.length > 0 ? policyRefs(policy, limits, cut, summaryAsSystem) : {}),
    estimated_tokens: cut.meta.estimated_tokens + cut.toolTokens,
    ...(room ? { room: { ...room } } : {}),
    ...(marks.length > 0 ? { policy_marks: marks } : {}),
  };
  const estimated = requestTokens(counting, model, sent.messages, tools);
  state.used = refs.estimated_tokens;
  state.budget = limits.budget;
  return { sent, refs, estimated, overBudget: cut.moved || cut.meta.over_budget };
}

/** Maximum tokens of a request of this agent; null: no known limit. */
export async function budgetOf(
  counting: Counting,
  model: string,
  { contextPolicy: policy = defaultPolicy, settings }: Pick<ReadyAgent, 'contextPolicy' | 'settings'>,
  room?: ContextRoom,
): Promise<number | null> {
  const window = await counting.windowOf(model);
  const limits = limitsFor(policy, { model, window, maxOutputTokens: settings.max_output_tokens });
  return limitsWithin(limits, policy, room).budget;
}

/** The share of its budget that the last request of a context used; undefined if it had no budget. */
export function fullness(context: RunContext): number | undefined {
  const { used, budget } = states.get(context) ?? {};
  return used === undefined || budget == null ? undefined : used / budget;
}

export function limitsFor(policy: StoredPolicy, of: Parameters<typeof limitsOf>[1]): Limits {
  try {
    return limitsOf(policy, of);
  } catch (error) {
    if (!isLanefoldError(error, 'unknown_window')) throw error;
    throw new ModelError(`${error.message} ${error.hint}`, { errorType: 'context_policy', retryable: false });
  }
}

/** The state left by the last call. A different policy or model starts without a cut. */
function stateOf(context: RunContext, counter: Counter, limits: Limits): FitState {
  const known = states.get(context);
  const state: FitState = {
    tokens: known?.counter === counter.name ? known.tokens : new WeakMap(),
    counter: counter.name,
    hash: limits.hash,
    dropped: [],
    upTo: 0,
  };
  if (known?.hash === limits.hash) Object.assign(state, { dropped: known.dropped, sent: known.sent, upTo: known.upTo });
  else if (!known) state.dropped = loggedDropped(context.answerRefs, limits.hash);
  states.set(context, state);
  return state;
}

/**
 * The messages to send: the last request plus the new messages, or a fresh list if the cut moved or a projector
 * chooses.
 */
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
