import type { Checked } from '../../contracts/contract.ts';
import type { Command, StrategyDecision, RunFacts } from '../machine.ts';
import type { RunError } from '../run-error.ts';
import { outputEvent } from './events.ts';
import type { RepairState, TurnState } from './state.ts';
import { finishValidated } from './validated-output.ts';

/** Starts the first repair of an answer that violates the run's contract; fails the run if the contract allows none. */
export const startRepair = <S extends TurnState>(
  run: RunFacts,
  state: S,
  violation: Omit<RepairState, 'attempt'>,
): StrategyDecision<S> =>
  nextRepair(run, { ...state, phase: 'output', retries: 0, output: { attempt: 0, ...violation } });

export function onRepaired<S extends TurnState>(run: RunFacts, state: S, checked: Checked): StrategyDecision<S> {
  const { attempt, finish_reason } = state.output!;
  if (checked.ok) return finishValidated(run, state, { value: checked.value, attempt, finish_reason });
  return nextRepair(run, { ...state, output: { ...state.output!, ...failureOf(checked) } });
}

/** The part of the repair state that records a failed check. */
export const failureOf = ({
  message,
  timedOut,
}: Extract<Checked, { ok: false }>): Pick<RepairState, 'error' | 'timed_out'> => ({
  error: message,
  ...(timedOut ? { timed_out: true } : {}),
});

/** Repeats the repair during which the worker died. */
export const resumeRepair = <S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> =>
  state.output!.attempt > 0 ? { state, command: repairCommand(state) } : nextRepair(run, state);

/** Fails the run, because its output can no longer be repaired. */
export const failRepair = <S extends TurnState>(run: RunFacts, state: S, error: RunError): StrategyDecision<S> => {
  const data = { status: 'error', attempt: state.output!.attempt, error: { ...error } };
  return { state, command: { type: 'fail', error, events: [outputEvent('output_failed', run, state, data)] } };
};

/** Fails the run, because it reached its maximum duration during a repair. */
export const failRepairOutOfTime = <S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> =>
  failRepair(run, state, {
    type: 'output_validation',
    message: `The run reached its maximum duration before its output was repaired: ${state.output!.error}`,
  });

export const repairCommand = (state: TurnState): Extract<Command, { type: 'repair_output' }> => {
  const { attempt, error } = state.output!;
  return { type: 'repair_output', attempt, error };
};

function nextRepair<S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> {
  const { attempt, error, timed_out: timedOut } = state.output!;
  const { mode, maxRepairs } = run.output!;
  if (timedOut) return failRepair(run, state, { type: 'validation_timeout', message: error });
  if (mode === 'error' || attempt >= maxRepairs) {
    return failRepair(run, state, { type: 'output_validation', message: error });
  }
  const next: S = { ...state, retries: 0, output: { ...state.output!, attempt: attempt + 1 } };
  const data = { status: 'repair', attempt: attempt + 1, validation_error: error };
  return {
    state: next,
    step: { events: [outputEvent('output_repair', run, next, data)] },
    command: repairCommand(next),
  };
}
