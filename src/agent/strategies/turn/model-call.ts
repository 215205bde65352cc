import { limitReached } from '../limits.ts';
import type { Command, StrategyDecision, RunFacts, SpentSoFar, StepDraft } from '../machine.ts';
import { llmStarted } from './events.ts';
import { finishAtLimit } from './finish.ts';
import { callId, type TurnState } from './state.ts';

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

export const callCommand = (run: RunFacts, state: TurnState): Extract<Command, { type: 'call_model' }> => ({
  type: 'call_model',
  callId: callId(run, state),
  ...(state.room ? { room: state.room } : {}),
});
