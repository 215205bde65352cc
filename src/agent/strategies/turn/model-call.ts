import { LanefoldError } from '../../../base/errors.ts';
import { limitReached, budgetReached } from '../limits.ts';
import type {
  StrategyDecision,
  StrategyEvent,
  RunFacts,
  SpentSoFar,
  Command,
  StepDraft,
  EventDraft,
} from '../machine.ts';
import { finishAtLimit, failRepairOutOfTime, onRepaired, failRepair, repairCommand, resumeRepair } from './finish.ts';
import { type TurnState, llmStarted, callId, llmRetry, llmLost } from './events.ts';
import { afterFailure, askedModel, asking, attemptFacts, lastError, placeAgain } from '../fallback.ts';
import type { ContextRoom } from '../../policy/policy.ts';
import type { CompactionOutcome } from '../records.ts';

/**
 * The decision on an event that all strategies treat alike.
 *
 * @throws LanefoldError `internal` on any other event, so that the run fails instead of waiting for ever
 */
export function onSharedEvent<S extends TurnState>(
  strategy: string,
  run: RunFacts,
  state: S,
  event: StrategyEvent,
): StrategyDecision<S> {
  switch (event.type) {
    case 'model_failed':
      return onModelFailed(run, state, event);
    case 'output_repaired':
      return onRepaired(run, state, event.checked);
    case 'continued':
      return onContinued(run, state, event.spent);
    case 'over_budget':
      return compactFirst(run, state);
    case 'compacted':
      return onCompacted(run, state, event);
    case 'time_up':
      return state.phase === 'output' ? failRepairOutOfTime(run, state) : finishAtLimit(state, 'max_duration');
    default:
      throw new LanefoldError('internal', `The strategy ${strategy} does not know the event "${event.type}".`, {
        hint: 'This is a bug in Lanefold; please report it.',
      });
  }
}

/** The `llm_started` for the queued input is committed; now calls the model, unless a limit is reached. */
function onContinued<S extends TurnState>(run: RunFacts, state: S, spent: SpentSoFar | undefined): StrategyDecision<S> {
  const reason = limitReached(run, state.iteration, spent);
  return reason ? finishAtLimit(state, reason) : askModel(run, state);
}

/** Calls the model without committing a step: an earlier commit has written `llm_started`. */
export const askModel = <S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> => ({
  state,
  command: callCommand(run, state),
});

/**
 * Commits `step` and drains the queued input, then calls the model. Once a limit is reached, `step` ends the run
 * instead.
 */
export function callModelAfter<S extends TurnState>(
  run: RunFacts,
  state: S,
  step: StepDraft,
  spent: SpentSoFar | undefined,
): StrategyDecision<S> {
  const reason = limitReached(run, state.iteration, spent);
  if (reason) return finishAtLimit(state, reason, step);
  return {
    state,
    step: { ...step, drain: true, thenEvents: [llmStarted(run, state)] },
    command: callCommand(run, state),
  };
}

/** The step's `continue`: input queued by then gets another model call, unless the limit is reached. */
export function continueWithInput(run: RunFacts, state: TurnState): NonNullable<StepDraft['continue']> {
  return { state, events: state.iteration > run.maxIterations ? [] : [llmStarted(run, state)] };
}

const callCommand = (run: RunFacts, state: TurnState): Extract<Command, { type: 'call_model' }> => ({
  type: 'call_model',
  callId: callId(run, state),
  room: state.room,
  ...asking(run, state.place),
});

type Failed = Extract<StrategyEvent, { type: 'model_failed' }>;

/**
 * Asks the next model of the chain, or the same one again, after a failed call or repair; else fails the run. A request that was too
 * long is shortened once no other model of the chain can take it whole. A run that has used up its budget ends.
 */
function onModelFailed<S extends TurnState>(run: RunFacts, state: S, event: Failed): StrategyDecision<S> {
  const repairing = state.phase === 'output';
  const reason = repairing ? undefined : budgetReached(event.error);
  if (reason) return finishAtLimit(state, reason);
  const after = afterFailure(run, state.place, state.retries, event);
  if (event.room && !state.shortened && !(after?.passes && state.retries === 0))
    return makeShorter(run, state, event, event.room);
  if (!after) {
    const error = lastError(run, state.place, event);
    return repairing ? failRepair(run, state, error) : { state, command: { type: 'fail', error } };
  }
  const { place, retries, delayMs: afterMs } = after;
  const data = attemptFacts(run, state.place, event, after, state.retries + 1);
  if (repairing) {
    const next: S = { ...state, retries, place };
    return {
      state: next,
      step: { events: [llmRetry(state, data)] },
      command: { ...repairCommand(run, next), afterMs },
    };
  }
  const next: S = { ...state, retries, place, call_no: state.call_no + 1 };
  return {
    state: next,
    step: { events: [llmRetry(state, { call_id: callId(run, state), ...data }), llmStarted(run, next)] },
    command: { ...callCommand(run, next), afterMs },
  };
}

/** Makes a call once more whose request was too long, with what the model takes. */
function makeShorter<S extends TurnState>(
  run: RunFacts,
  state: S,
  event: Failed,
  room: ContextRoom,
): StrategyDecision<S> {
  const next: S = { ...state, shortened: true, room, call_no: state.call_no + 1 };
  const again = { place: state.place, retries: state.retries, delayMs: 0 };
  const data = { call_id: callId(run, state), ...attemptFacts(run, state.place, event, again, state.retries + 1) };
  return {
    state: next,
    step: { events: [llmRetry(state, { ...data, room: { ...room } }), llmStarted(run, next)] },
    command: callCommand(run, next),
  };
}

/**
 * Resumes a run after its last commit. A tool round or a repair continues; an interrupted model call is lost and made
 * again.
 */
export function resumeTurn<S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> {
  if (state.phase === 'tools') return { state, command: { type: 'run_tools', round: state.round, calls: [] } };
  if (state.phase === 'output') return resumeRepair(run, state);
  if (state.iteration > run.maxIterations) return finishAtLimit(state, 'max_iterations');
  const again = { ...state, place: placeAgain(run, state.place), call_no: state.call_no + 1 };
  return callModelAfter(run, again, { events: [llmLost(run, state)] }, run.spent);
}

/** Compacts the context first, because the next call is over its budget. */
const compactFirst = <S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> => ({
  state,
  command: {
    type: 'compact',
    callId: callId(run, state),
    request: { cause: 'over_budget' },
    room: state.room,
    // without room in a limit, the run waits: a compaction that fails is not made by the next model
    ...askedModel(run, state.place),
  },
});

/**
 * Commits the outcome of the compaction, then makes the call. If it failed, the context is cut as under any other
 * policy.
 */
const onCompacted = <S extends TurnState>(
  run: RunFacts,
  state: S,
  outcome: CompactionOutcome,
): StrategyDecision<S> => ({
  state,
  step: {
    compact: outcome.compaction,
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
