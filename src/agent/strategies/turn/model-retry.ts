import { budgetReached } from '../limits.ts';
import type { ContextRoom } from '../../policy/room.ts';
import type { StrategyDecision, StrategyEvent, RunFacts } from '../machine.ts';
import { llmRetry, llmStarted } from './events.ts';
import { finishAtLimit } from './finish.ts';
import { callCommand } from './model-call.ts';
import { failRepair, repairCommand } from './output-repair.ts';
import { callId, type TurnState } from './state.ts';

type Failed = Extract<StrategyEvent, { type: 'model_failed' }>;

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/**
 * The longest `retryAfterMs` that is waited for: a waiting run holds its thread and its worker. Beyond this, the caller
 * decides when to try again.
 */
const longestRetryAfterMs = 60_000;

/**
 * Retries a failed model call or repair while the error is retryable and retries are left; else fails the run. A run that
 * has used up its budget ends.
 */
export function onModelFailed<S extends TurnState>(run: RunFacts, state: S, event: Failed): StrategyDecision<S> {
  const repairing = state.phase === 'output';
  const reason = repairing ? undefined : budgetReached(event.error);
  if (reason) return finishAtLimit(state, reason);
  if (event.room && !state.shortened) return makeShorter(run, state, event, event.room);
  const afterMs = retryDelay(run, state.retries, event);
  if (afterMs === undefined) {
    return repairing ? failRepair(run, state, event.error) : { state, command: { type: 'fail', error: event.error } };
  }
  const retries = state.retries + 1;
  const data = { attempt: retries, delay_ms: afterMs, error: { ...event.error } };
  if (repairing) {
    const next: S = { ...state, retries };
    return {
      state: next,
      step: { events: [llmRetry(state, data)] },
      command: { ...repairCommand(next), afterMs },
    };
  }
  const next: S = { ...state, retries, call_no: state.call_no + 1 };
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
  const data = { call_id: callId(run, state), attempt: state.retries + 1, delay_ms: 0, error: { ...event.error } };
  return {
    state: next,
    step: { events: [llmRetry(state, { ...data, room: { ...room } }), llmStarted(run, next)] },
    command: callCommand(run, next),
  };
}

/** Delay before a failed call is retried, in ms; undefined if it is not retried. */
export function retryDelay(run: RunFacts, retries: number, event: Failed): number | undefined {
  const { retryable, retryAfterMs } = event;
  if (!retryable || retries >= run.maxModelRetries || (retryAfterMs ?? 0) > longestRetryAfterMs) return undefined;
  // a provider that asks for no wait at all gets the usual one
  return retryAfterMs || Math.min(firstDelayMs * 2 ** retries, longestDelayMs);
}
