import type { Decision, EventDraft, RunFacts, StepDraft } from '../machine.ts';
import { settle } from './finish.ts';
import { callId, type ReactState } from './state.ts';

/** The result of a run that used up its model calls; it is not a message of the context. */
export const limitText = 'Maximum iterations reached without a final answer.';

export const llmStarted = (run: RunFacts, state: ReactState): EventDraft => ({
  kind: 'llm_started',
  iteration: state.iteration,
  data: { call_id: callId(run.runId, state), model: run.model },
});

export const checkpoint = (state: ReactState, reason: 'after_llm' | 'after_tools'): EventDraft => ({
  kind: 'checkpoint',
  iteration: state.iteration,
  data: { reason },
});

/** State of the next iteration, its model call already numbered. */
export const advance = (state: ReactState): ReactState => ({
  ...state,
  phase: 'llm',
  iteration: state.iteration + 1,
  call_no: state.call_no + 1,
  retries: 0,
  ...(state.tools ? { tools: undefined } : {}),
});

export const nextCall = (run: RunFacts, state: ReactState): Decision<ReactState> => ({
  state,
  command: { type: 'call_model', callId: callId(run.runId, state) },
});

/** The limit is a normal end: the run is completed, its input queue sealed. */
export const finishAtLimit = (run: RunFacts, state: ReactState, step: StepDraft = {}): Decision<ReactState> =>
  settle(run, state, step, { reason: 'max_iterations', text: limitText });
