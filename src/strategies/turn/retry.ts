import type { Decision, MachineEvent, RunFacts } from '../machine.ts';
import { failRepair, repairCommand } from './finish.ts';
import { callId, type ReactState } from './state.ts';
import { llmStarted } from './steps.ts';

type Failed = Extract<MachineEvent, { type: 'model_failed' }>;

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A provider that asks for more patience has the caller decide: a run would hold its thread and worker for it. */
const longestWaitMs = 60_000;

/** Retries what may pass (rate limits, 5xx, lost connections) with growing delays, each told as an event. */
export function onModelFailed(run: RunFacts, state: ReactState, event: Failed): Decision<ReactState> {
  const tooLong = (event.retryAfterMs ?? 0) > longestWaitMs;
  if (!event.retryable || tooLong || state.retries >= run.maxModelRetries) {
    if (state.phase === 'output') return failRepair(run, state, event.error);
    return { state, command: { type: 'fail', error: event.error } };
  }
  const afterMs = event.retryAfterMs ?? Math.min(firstDelayMs * 2 ** state.retries, longestDelayMs);
  if (state.phase === 'output') {
    const again: ReactState = { ...state, retries: state.retries + 1 };
    const data = { attempt: again.retries, delay_ms: afterMs, error: { ...event.error } };
    return {
      state: again,
      step: { events: [{ kind: 'llm_retry', iteration: state.iteration, data }] },
      command: { ...repairCommand(again), afterMs },
    };
  }
  const next: ReactState = { ...state, retries: state.retries + 1, call_no: state.call_no + 1 };
  const retry = {
    call_id: callId(run.runId, state),
    attempt: next.retries,
    delay_ms: afterMs,
    error: { ...event.error },
  };
  return {
    state: next,
    step: { events: [{ kind: 'llm_retry', iteration: state.iteration, data: retry }, llmStarted(run, next)] },
    command: { type: 'call_model', callId: callId(run.runId, next), afterMs },
  };
}
