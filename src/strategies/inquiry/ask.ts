import type { Decision, RunFacts, StepDraft } from '../machine.ts';
import { promptedCall } from './conversation.ts';
import { callStarted } from './events.ts';
import { endEarly, finishInquiry } from './finish.ts';
import { momentOf, spentAt, type Folded } from './fold.ts';
import type { Inquiry } from './inquiry.ts';
import { limitReached } from '../limits.ts';
import type { CommonOptions } from './options.ts';
import { waitingRound, type InquiryState, type OpenCall, type Progress } from './state.ts';

type Decided<Memory> = Decision<InquiryState, Progress<Memory>>;

/**
 * Does what a turn says: asks its questions, within the limits of the run, or ends it. `step` is committed before.
 *
 * @param started how many of the calls have their `llm_started` in the trace already
 */
export function askBatch<Memory>(
  strategy: Inquiry<Memory>,
  run: RunFacts,
  state: InquiryState,
  { progress, turn }: Folded<Memory>,
  step: StepDraft,
  started = 0,
): Decided<Memory> {
  const nodes = [...(step.nodes ?? []), ...(turn.nodes ?? [])];
  const withNodes = nodes.length > 0 ? { ...step, nodes } : step;
  if (turn.end) return finishInquiry(state, progress, turn.end, withNodes);
  const reason = limitReached(run, state.iteration + progress.batch.length, spentAt(momentOf(progress)));
  if (reason) return endEarly(strategy, state, progress, { reason }, withNodes);
  const open = progress.batch.map(({ node }, i): OpenCall => ({
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
  const events = progress.batch.map(({ ask }, i) => callStarted(run, ask, open[i]!)).slice(started);
  const last = { ...withNodes, events: [...(withNodes.events ?? []), ...events] };
  const empty = last.events.length === 0 && nodes.length === 0;
  return awaitCalls(run, next, progress, empty ? undefined : last);
}

/** Waits for the answers that are still missing, but for those whose tool rounds have to wait. */
export function awaitCalls<Memory>(
  run: RunFacts,
  state: InquiryState,
  progress: Progress<Memory>,
  step?: StepDraft,
  delayed?: { callId: string; afterMs: number },
): Decided<Memory> {
  const missing = state.open.filter(({ node }) => !waitingRound(progress, node));
  const calls = missing.map((open) => promptedCall(run, progress, open));
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
