import type { Json } from '../../context/message.ts';
import type { StrategyDecision, EventDraft, RunFacts, StepDraft } from '../machine.ts';
import { outputEvent } from './events.ts';
import type { TurnState } from './state.ts';

interface ValidatedOutput {
  value: Json;
  /** Number of repairs it took. */
  attempt: number;
  /** Of the answer. */
  finish_reason: string | null;
}

/** Ends a run with an output that meets its contract. `events` precede the validation event. */
export function finishValidated<S extends TurnState>(
  run: RunFacts,
  state: S,
  { value, attempt, finish_reason }: ValidatedOutput,
  step: StepDraft = {},
  events: EventDraft[] = [],
): StrategyDecision<S> {
  const finish: StepDraft['finish'] = {
    status: 'completed',
    reason: 'final_answer',
    finish_reason,
    result: value,
    events: [...events, outputEvent('output_validated', run, state, { status: 'validated', attempt })],
    output: { ...run.output!.meta, status: attempt === 0 ? 'validated' : 'repaired', attempt },
  };
  return { state, step: { ...step, finish }, command: { type: 'finish' } };
}
