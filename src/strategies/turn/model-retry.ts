import type { Decision, MachineEvent, RunFacts } from '../machine.ts';
import { llmRetry, llmStarted } from './events.ts';
import { callCommand } from './model-call.ts';
import { failRepair, repairCommand } from './output-repair.ts';
import { callId, type TurnState } from './state.ts';

type Failed = Extract<MachineEvent, { type: 'model_failed' }>;

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A run holds its thread and its worker while it waits; beyond this, the caller decides when to try again. */
const longestRetryAfterMs = 60_000;

/** Retries a failed model call, or a failed repair, while the error is retryable and retries are left; else fails the run. */
export function onModelFailed<S extends TurnState>(run: RunFacts, state: S, event: Failed): Decision<S> {
  const repairing = state.phase === 'output';
  if (!mayRetry(run, state, event)) {
    return repairing ? failRepair(run, state, event.error) : { state, command: { type: 'fail', error: event.error } };
  }
  const afterMs = event.retryAfterMs ?? Math.min(firstDelayMs * 2 ** state.retries, longestDelayMs);
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

const mayRetry = (run: RunFacts, state: TurnState, { retryable, retryAfterMs = 0 }: Failed): boolean =>
  retryable && retryAfterMs <= longestRetryAfterMs && state.retries < run.maxModelRetries;
