import type { StrategyDecision, RunFacts, StepDraft } from '../machine.ts';
import { outputEvent } from './events.ts';
import type { Answered } from './model-answer.ts';
import { failureOf, startRepair } from './output-repair.ts';
import type { TurnState } from './state.ts';
import { finishValidated } from './validated-output.ts';

/**
 * Ends a run with the answer that is the last entry of `step`. If the answer violates the run's output contract, `step`
 * closes the input queue instead, and the answer is repaired.
 *
 * @param answered `checked`: whether the answer meets the contract, where the run has one
 */
export function finishAnswered<S extends TurnState>(
  run: RunFacts,
  state: S,
  step: StepDraft,
  { turn, whole, checked }: Answered,
): StrategyDecision<S> {
  const { finishReason: finish_reason } = turn;
  if (!run.output) {
    const result = whole === undefined ? {} : { result: whole };
    return end(state, step, { status: 'completed', reason: 'final_answer', finish_reason, ...result });
  }
  const started = { ...outputEvent('output_started', run, state, { status: 'started', attempt: 0 }), entry: 0 };
  if (checked!.ok)
    return finishValidated(run, state, { value: checked!.value, attempt: 0, finish_reason }, step, [started]);
  const repair = startRepair(run, state, { ...failureOf(checked!), finish_reason });
  return { ...repair, step: { ...step, seal: true, thenEvents: [started, ...(repair.step?.events ?? [])] } };
}

/**
 * Reaching a limit is a normal end, but gives no answer: the run completes without a result, even under an output
 * contract, and its lane ends with the last messages of the model and its tools.
 */
export const finishAtLimit = <S extends TurnState>(
  state: S,
  reason: string,
  step: StepDraft = {},
): StrategyDecision<S> => end(state, step, { status: 'completed', reason, result: null });

const end = <S extends TurnState>(state: S, step: StepDraft, finish: StepDraft['finish']): StrategyDecision<S> => ({
  state,
  step: { ...step, finish },
  command: { type: 'finish' },
});
