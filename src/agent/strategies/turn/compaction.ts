import type { CompactionOutcome } from '../compaction/types.ts';
import type { StrategyDecision, EventDraft, RunFacts } from '../machine.ts';
import { callCommand } from './model-call.ts';
import { callId, type TurnState } from './state.ts';

/** Compacts the context first, because the next call is over its budget. */
export const compactFirst = <S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> => ({
  state,
  command: {
    type: 'compact',
    callId: callId(run, state),
    request: { cause: 'over_budget' },
    ...(state.room ? { room: state.room } : {}),
  },
});

/**
 * Commits the outcome of the compaction, then makes the call. If it failed, the context is cut as under any other
 * policy.
 */
export const onCompacted = <S extends TurnState>(
  run: RunFacts,
  state: S,
  outcome: CompactionOutcome,
): StrategyDecision<S> => ({
  state,
  step: {
    ...(outcome.compaction ? { compact: outcome.compaction } : {}),
    events: [compactionEvent(state.iteration, outcome)],
  },
  command: { ...callCommand(run, state), compacted: true },
});

/** The event about the summary, if there is one: the entry after the others of its step. */
export const compactionEvent = (
  iteration: number,
  { status, compaction, usage, error }: CompactionOutcome,
): EventDraft => ({
  kind: status === 'failed' ? 'compaction_failed' : 'compaction_completed',
  iteration,
  ...(compaction ? { entry: 0 } : {}),
  data: {
    status,
    ...(usage ? { usage } : {}),
    ...(error ? { error: { ...error } } : {}),
    ...(compaction ? { op_id: compaction.op_id, ...compaction.meta } : {}),
  },
});
