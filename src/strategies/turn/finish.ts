import type { Checked } from '../../contracts/contract.ts';
import type { Decision, RunFacts, StepDraft } from '../machine.ts';
import { outputEvent } from './events.ts';
import { failureOf, startRepair } from './output-repair.ts';
import type { TurnState } from './state.ts';
import { finishValidated } from './validated-output.ts';

/** The result of a run that has reached a limit; the context does not contain it. */
const limitTexts: Record<string, string> = {
  max_iterations: 'Maximum iterations reached without a final answer.',
  max_total_tokens: 'Maximum tokens reached without a final answer.',
  max_duration: 'Maximum duration reached without a final answer.',
};

export interface Ending {
  /** Termination reason. */
  reason: string;
  /** The result, where it is not the last entry of the step. */
  text?: string;
  /** Whether the answer meets the run's contract; undefined where there is no answer. */
  checked?: Checked | undefined;
}

/**
 * Ends a run normally: `step` is its last step. Where the run has an output contract and its answer violates it, `step`
 * closes the input queue instead, and the answer is repaired.
 */
export function finish<S extends TurnState>(run: RunFacts, state: S, step: StepDraft, ending: Ending): Decision<S> {
  if (run.output) return finishUnderContract(run, state, step, ending);
  const { reason, text } = ending;
  const end = { status: 'completed', reason, ...(text === undefined ? {} : { result: text }) } as const;
  return { state, step: { ...step, finish: end }, command: { type: 'finish' } };
}

/** Reaching the limit is a normal end: the run is completed, and its input queue closed. */
export const finishAtLimit = <S extends TurnState>(
  run: RunFacts,
  state: S,
  reason: string,
  step: StepDraft = {},
): Decision<S> => finish(run, state, step, { reason, text: limitTexts[reason]! });

function finishUnderContract<S extends TurnState>(
  run: RunFacts,
  state: S,
  step: StepDraft,
  { reason, text, checked = { ok: false, message: 'The run has no final answer.' } }: Ending,
): Decision<S> {
  const started = {
    ...outputEvent('output_started', run, state, { status: 'started', attempt: 0 }),
    ...(text === undefined ? { entry: 0 } : {}),
  };
  if (checked.ok) return finishValidated(run, state, { value: checked.value, reason, attempt: 0 }, step, [started]);
  const violation = { reason, ...failureOf(checked), ...(text === undefined ? {} : { text }) };
  // no more calls and tokens for a run that has used up its own
  const spent = reason === 'max_total_tokens' || reason === 'max_duration';
  const repair = startRepair(spent ? { ...run, output: { ...run.output!, maxRepairs: 0 } } : run, state, violation);
  return { ...repair, step: { ...step, seal: true, thenEvents: [started, ...(repair.step?.events ?? [])] } };
}
