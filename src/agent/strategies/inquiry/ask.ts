import type { StrategyDecision, RunFacts, SpentSoFar, StepDraft } from '../machine.ts';
import { promptedCall } from './conversation.ts';
import { callStarted } from './events.ts';
import { endEarly, finishInquiry } from './finish.ts';
import { progressOf, spentAt, type Folded } from './fold.ts';
import type { StrategyDefinition } from './inquiry.ts';
import { limitReached } from '../limits.ts';
import type { CommonOptions } from './options.ts';
import { askOf, waitingRound, type InquiryState, type OpenCall, type InquiryProgress } from './state.ts';

type Decided<Memory> = StrategyDecision<InquiryState, InquiryProgress<Memory>>;

/**
 * Carries out a turn: asks its questions, within the limits of the run, or ends the run. `step` is committed first.
 *
 * @param started how many of the calls already have their `llm_started` in the trace
 */
export function askBatch<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  { progress, turn }: Folded<Memory>,
  step: StepDraft,
  started = 0,
): Decided<Memory> {
  const nodes = [...(step.nodes ?? []), ...(turn.nodes ?? [])];
  const withNodes = nodes.length > 0 ? { ...step, nodes } : step;
  if (turn.end) return finishInquiry(state, progress, turn.end, withNodes);
  return askQuestions(strategy, run, state, progress, progress.batch, withNodes, { started });
}

/**
 * Starts a model call for each of these questions of the batch, unless a limit of the run forbids it. All earlier calls
 * have their answers, so the limits do not depend on which call was faster.
 */
export function askQuestions<Memory>(
  strategy: StrategyDefinition<Memory>,
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  questions: readonly { node: number }[],
  step: StepDraft,
  { started = 0, spent }: { started?: number; spent?: SpentSoFar | undefined },
): Decided<Memory> {
  const reason = limitReached(run, state.iteration + questions.length, spentAt(progressOf(progress)));
  if (reason) return endEarly(strategy, state, progress, { reason }, step, spent);
  const open = questions.map(({ node }, i): OpenCall => ({
    node,
    call_no: state.call_no + 1 + i,
    iteration: state.iteration + 1 + i,
    retries: 0,
  }));
  const next: InquiryState = {
    ...state,
    phase: 'llm',
    iteration: state.iteration + open.length,
    call_no: state.call_no + open.length,
    open,
  };
  const events = open.map((call) => callStarted(run, askOf(progress, call.node), call)).slice(started);
  const last = { ...step, events: [...(step.events ?? []), ...events] };
  const empty = last.events.length === 0 && !step.nodes;
  return awaitCalls(run, next, progress, empty ? undefined : last);
}

/** Waits for the answers that are still missing. */
export function awaitCalls<Memory>(
  run: RunFacts,
  state: InquiryState,
  progress: InquiryProgress<Memory>,
  step?: StepDraft,
  delayed?: { callId: string; afterMs: number },
): Decided<Memory> {
  const missing = state.open.filter(({ node }) => !waitingRound(progress, node));
  const room = state.room ? { room: state.room } : {};
  const calls = missing.map((open) => ({ ...promptedCall(run, progress, open), ...room }));
  const { concurrency } = run.options as CommonOptions;
  return {
    state,
    memory: progress,
    ...(step ? { step } : {}),
    command: {
      type: 'call_models',
      limit: concurrency,
      calls: calls.map((call) => (call.callId === delayed?.callId ? { ...call, afterMs: delayed.afterMs } : call)),
    },
  };
}
