import { omitUndefined } from '../../base/common/json.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { storedOption } from '../../agent/policy/read-policy.ts';
import { storedFallback } from '../../agent/models/model-chain.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { CallOutcome, StrategyDecision, EntryDraft } from '../../agent/strategies/machine.ts';
import { errorMessage, type ToolOutcome } from '../../agent/tools/outcome.ts';
import { Handoff, type HandoffRequest, type NextAgent } from '../../agent/tools/handoff.ts';
import type { RunDependencies } from './dependencies.ts';
import { LanefoldError } from '../../base/errors.ts';
import { nextIteration, llmStarted, type TurnState } from '../../agent/strategies/turn/events.ts';
import type { RunContext } from './context.ts';
import type { ActiveRun } from './open-run.ts';
import { answerIn, earlierText } from './run-end.ts';
import { toRunEnd, type RunEnd } from './progress.ts';
import { subtractUsage, type JsonObject, type Usage } from '../../agent/context/message.ts';
import { handedOver, type HandoffRecord, type RunOptions } from '../../agent/definition/run-options.ts';
import { commit } from './commit.ts';
import type { RunProgress } from './progress.ts';

/** Why a run cannot be handed over. */
interface HandoffRefusal {
  type: 'unknown_agent' | 'invalid_handoff' | 'too_many_handoffs';
  message: string;
}

/**
 * The outcome of a call that asks to hand the run over, or why it cannot. Which call of the round hands it over is only
 * known once the round has ended; see `settleHandoffs`.
 */
export function acceptHandoff(
  deps: RunDependencies,
  agent: ReadyAgent,
  claim: Claim,
  outcome: ToolOutcome & { handoff: HandoffRequest },
): ToolOutcome {
  const { handoff, attempts, durationMs, offered } = outcome;
  const spent = { attempts, durationMs, ...(offered && { offered }) };
  const refused = refusalOf(deps, agent, claim, handoff);
  if (refused) return { ...errorMessage({ ...refused, retryable: false }), ...spent };
  const next = nextAgent(deps, handoff);
  return {
    next,
    status: 'ok',
    content: JSON.stringify({ hands_to: next.agent }),
    ...spent,
  };
}

/** Why the run of a claim cannot be handed over as requested; undefined if it can. */
function refusalOf(
  { agents }: RunDependencies,
  agent: ReadyAgent,
  claim: Claim,
  { agent: next }: HandoffRequest,
): HandoffRefusal | undefined {
  if (!agents.has(next)) return { type: 'unknown_agent', message: `The agent ${next} does not exist here` };
  if (next === claim.agent) return { type: 'invalid_handoff', message: `The agent ${next} has the run already` };
  if (claim.strategy !== 'react' || agents.get(next).strategy !== 'react') {
    const message = 'Only agents with the strategy react can hand runs over and take them';
    return { type: 'invalid_handoff', message };
  }
  const before = claim.options?.handoffs?.length ?? 0;
  if (before < agent.maxHandoffs) return undefined;
  return { type: 'too_many_handoffs', message: `A run is handed over ${before} times at most` };
}

/** The agent that continues, as this worker knows it. */
function nextAgent(
  { agents }: RunDependencies,
  { agent, context = 'whole', contextPolicy, ask }: HandoffRequest,
): NextAgent {
  const { model, chain, instructions: prompt, resume, version } = agents.get(agent);
  const policy = contextPolicy === undefined ? undefined : storedOption(contextPolicy);
  return {
    agent,
    context,
    model,
    prompt,
    ...omitUndefined({
      fallback: storedFallback(chain) as JsonObject | undefined,
      ask,
      context_policy: policy,
      pinned: resume === 'pinned' ? version.id : undefined,
    }),
  };
}

type RoundOutcome = CallOutcome & Pick<ToolOutcome, 'next'>;

/** The handoff of a round that has ended. */
export const handoffIn = (outcomes: readonly RoundOutcome[]): NextAgent | undefined =>
  outcomes.find(({ next }) => next)?.next;

/**
 * The outcomes of a round that has ended: the first call, in call order, that asked to hand the run over does so. Later
 * ones are told which agent gets it, whichever call was done first.
 */
export function settleHandoffs<Outcome extends RoundOutcome>(outcomes: readonly Outcome[]): Outcome[] {
  const winner = handoffIn(outcomes);
  return outcomes.map((outcome) => {
    if (!winner || !outcome.next) return outcome;
    const { agent, context } = winner;
    if (outcome.next === winner)
      return { ...outcome, content: JSON.stringify({ handed_to: agent }), refs: { handoff: { agent, context } } };
    return refused(outcome, {
      type: 'already_handed_over',
      message: `An earlier call of this round hands the run to the agent ${agent}`,
    });
  });
}

/** The outcomes of a round that was settled, if its run is to be cancelled and so is not handed over. */
export const withoutHandoff = <Outcome extends RoundOutcome>(outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.map((outcome) =>
    outcome.next
      ? refused(outcome, {
          type: 'cancelled',
          message: `The run was cancelled before the agent ${outcome.next.agent} got it`,
        })
      : outcome,
  );

function refused<Outcome extends RoundOutcome>(
  { next: _, refs: __, ...outcome }: Outcome,
  failure: { type: string; message: string },
): Outcome {
  return { ...outcome, ...errorMessage({ ...failure, retryable: false }) } as Outcome;
}

/**
 * The handoff of an agent that hands its runs on when it has answered (`onEnd`): the step with the answer but without the
 * end of the run, and the agent that continues. Undefined: the run ends, also if it was handed over too often.
 *
 * @throws LanefoldError `invalid_input` for a handoff that cannot be
 */
export function onEndHandoff(
  deps: RunDependencies,
  { agent, claim, context }: ActiveRun,
  decision: StrategyDecision,
): { decision: StrategyDecision; next: NextAgent } | undefined {
  const { onEnd } = agent;
  const { finish, ...step } = decision.step ?? {};
  if (!onEnd || finish?.reason !== 'final_answer' || claim.options?.compaction) return undefined;
  const handoff = typeof onEnd === 'function' ? onEnd(finalText(decision, context)) : onEnd;
  if (handoff === undefined) return undefined;
  if (!(handoff instanceof Handoff)) throw impossible(agent.name, 'it returned something else than handOff(…)');
  const { request } = handoff;
  if (request.ask === undefined)
    throw impossible(agent.name, 'it has no ask, and the conversation ends with an answer');
  const refused = refusalOf(deps, agent, claim, request);
  if (refused?.type === 'too_many_handoffs') return undefined;
  if (refused) throw impossible(agent.name, refused.message);
  const { output: _, ...state } = nextIteration(decision.state as TurnState);
  const events = [...(step.events ?? []), ...(finish.events ?? [])];
  return { decision: { ...decision, state, step: { ...step, events } }, next: nextAgent(deps, request) };
}

/** The whole final answer; the step may only have checked or repaired the answer of an earlier one. */
function finalText(decision: StrategyDecision, { messages }: RunContext): string {
  const answer = answerIn(decision) ?? messages.findLast(({ role }) => role === 'assistant')?.content;
  return earlierText(decision) + (typeof answer === 'string' ? answer : '');
}

const impossible = (agent: string, why: string): LanefoldError =>
  new LanefoldError('invalid_input', `Agent ${agent} cannot hand its run on at the end: ${why}.`, {
    hint: 'Correct onEnd of the agent.',
  });

/**
 * Ends the tool round of a run, or stores its answer, and gives the run to another agent, in one commit. The run is queued again, because this
 * worker has claimed it under the prompt, the limits and the model of its agent. `decision` is what the strategy made of
 * the round. Returns undefined, and has written nothing, if the run is to be cancelled.
 */
export async function commitHandoff(
  deps: RunDependencies,
  active: ActiveRun,
  decision: StrategyDecision,
  { agent: name, context, model, fallback, prompt, ask, context_policy: policy, pinned }: NextAgent,
): Promise<RunEnd | undefined> {
  const { claim, clock, facts, progress } = active;
  // more than a step that merely resumes the run
  active.resumed = false;
  // the next agent has a chain of its own
  const state = { ...decision.state, place: undefined, handed: context } as TurnState;
  const { tokens, elapsedMs } = clock.spent(progress);
  const record: HandoffRecord = {
    from: claim.agent,
    to: name,
    iteration: state.iteration - 1,
    tokens,
    elapsed_ms: elapsedMs,
  };
  const handoff = {
    agent: name,
    model,
    prompt,
    from: claim.agent,
    options: {
      ...optionsOf(active, record),
      ...(fallback === undefined ? {} : { fallback }),
      ...(policy === undefined ? {} : { context_policy: policy }),
      ...(pinned === undefined ? {} : { pinned }),
    } as JsonObject,
    ...otherUsageOf(progress, claim.model, model, record.iteration),
  };
  // the limits of the earlier agent do not end the run
  const { finish: _, continue: __, thenEvents: ___, entries = [], ...step } = decision.step ?? {};
  const refs = { kind: 'handoff', from: claim.agent };
  const question: EntryDraft[] = ask === undefined ? [] : [{ role: 'user', payload: { content: ask }, refs }];
  const started = llmStarted({ runId: facts.runId, model }, state);
  const result = await commit(
    deps,
    active,
    state,
    { ...step, entries: [...entries, ...question], drain: true, thenEvents: [started] },
    handoff,
  );
  if (result.cancel_requested && !result.duplicate) return undefined;
  return toRunEnd(progress, { status: 'queued', ...(result.job ? { promoted: result.job } : {}) });
}

/** The options of the run from now on; `asked` keeps its request, for a retry. */
function optionsOf({ claim }: ActiveRun, record: HandoffRecord): RunOptions {
  const { handoffs = [], ...given } = claim.options ?? {};
  const { agent, model, strategy } = claim;
  const asked = given.asked ?? { agent, model, strategy, options: given };
  return { ...handedOver(given), asked, handoffs: [...handoffs, record] };
}

/** What was used so far is of another model, if the next agent has another one. */
function otherUsageOf({ usage, otherUsage = {} }: RunProgress, from: string, to: string, calls: number): JsonObject {
  if (from === to || !usage) return {};
  const { [to]: _, ...others } = otherUsage;
  let own: Usage = { ...usage, calls };
  for (const used of Object.values(otherUsage)) own = subtractUsage(own, used);
  return { other_usage: { ...others, [from]: own } };
}
