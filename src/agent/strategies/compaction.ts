import type { StrategyDecision, StrategyMachine, RunFacts } from './machine.ts';
import { afterFailure, asking, lastError } from './fallback.ts';
import { compactionEvent } from './turn/model-call.ts';
import { callId, firstState, type TurnState } from './turn/events.ts';
import type { CompactionOutcome } from './records.ts';

/**
 * Compacts the lane of its run and does nothing else: one model call, and one commit with the summary and the end of
 * the run. A crash before that commit changes nothing, and the next claim starts over.
 */
export const compaction: StrategyMachine<TurnState> = {
  name: 'compaction',
  tools: true,
  output: false,
  input: false,
  start: (run) => compact(run, firstState(run)),
  resume: (run) => compact(run, firstState(run)),
  on(run, state, event) {
    if (event.type === 'compacted') return onOutcome(run, state, event);
    const error = { type: 'compaction', message: `The compaction ended with ${event.type}. The lane is unchanged.` };
    return { state, command: { type: 'fail', error } };
  },
};

const compact = (run: RunFacts, state: TurnState, afterMs?: number): StrategyDecision<TurnState> => ({
  state,
  command: {
    type: 'compact',
    callId: callId(run, state),
    request: run.compaction ?? { cause: 'request' },
    afterMs,
    room: state.room,
    ...asking(run, state.place),
  },
});

function onOutcome(run: RunFacts, state: TurnState, outcome: CompactionOutcome): StrategyDecision<TurnState> {
  const { status, compaction: draft, error, retryable = false, room } = outcome;
  const failure = { ...outcome, retryable };
  const after = error ? afterFailure(run, state.place, state.retries, failure) : undefined;
  const call_no = state.call_no + 1;
  if (room && !state.shortened && !(after?.passes && state.retries === 0))
    return compact(run, { ...state, call_no, shortened: true, room });
  if (after) return compact(run, { ...state, call_no, retries: after.retries, place: after.place }, after.delayMs);
  const events = [compactionEvent(state.iteration, outcome)];
  if (status === 'failed')
    return { state, command: { type: 'fail', error: lastError(run, state.place, { error: error! }), events } };
  return {
    state,
    step: {
      compact: draft,
      events,
      finish: { status: 'completed', reason: status, result: draft ? { ...draft.meta, op_id: draft.op_id } : null },
    },
    command: { type: 'finish' },
  };
}
