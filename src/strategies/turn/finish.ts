import type { Json } from '../../context/message.ts';
import type { Checked, Decision, EventDraft, MachineState, RunError, RunFacts, StepDraft } from '../machine.ts';

/** How a run with a contract ends, while its answer is put right. The answer itself is in the log. */
export interface RepairState {
  /** Repairs begun so far. */
  attempt: number;
  /** The run's termination reason, should it end well. */
  reason: string;
  /** The result, where it is not the last answer. */
  text?: string;
  /** What is wrong with the answer, or with the last repair of it. */
  error: string;
}

/** What a machine's state needs for it. */
export interface RepairableState extends MachineState {
  retries: number;
  output?: RepairState;
}

/**
 * Ends a run: its last step gets the terminal transition, or, with a contract the answer does not fit, closes the input
 * queue and goes on to repairs (reference 8.3). `text` is the result where it is not the answer in the step.
 */
export function settle<S extends RepairableState>(
  run: RunFacts,
  state: S,
  step: StepDraft,
  { reason, text, checked }: { reason: string; text?: string; checked?: Checked | undefined },
): Decision<S> {
  if (!run.output) {
    const finish = { status: 'completed', reason, ...(text === undefined ? {} : { result: text }) } as const;
    return { state, step: { ...step, finish }, command: { type: 'finish' } };
  }
  const told = checked ?? { ok: false, message: 'The run has no final answer.' };
  const answer = text === undefined ? { entry: 0 } : {};
  const started = { ...outputEvent('output_started', run, state, { status: 'started', attempt: 0 }), ...answer };
  if (told.ok) return finished(run, state, step, [started], { value: told.value, reason, attempt: 0 });
  const output = { attempt: 0, reason, error: told.message, ...(text === undefined ? {} : { text }) };
  const next = repair(run, { ...state, phase: 'output', retries: 0, output });
  return {
    state: next.state,
    step: { ...step, seal: true, thenEvents: [started, ...(next.step?.events ?? [])] },
    command: next.command,
  };
}

/** What follows on a repair. */
export function onRepaired<S extends RepairableState>(run: RunFacts, state: S, checked: Checked): Decision<S> {
  const { attempt, reason } = state.output!;
  if (checked.ok) return finished(run, state, {}, [], { value: checked.value, reason, attempt });
  return repair(run, { ...state, output: { ...state.output!, error: checked.message } });
}

/** A run whose worker died in the middle of it: the repair under way is made again. */
export const resumeRepair = <S extends RepairableState>(run: RunFacts, state: S): Decision<S> =>
  state.output!.attempt > 0 ? { state, command: repairCommand(state) } : repair(run, state);

/** The end of a run whose repair cannot be made at all. */
export const failRepair = <S extends RepairableState>(run: RunFacts, state: S, error: RunError): Decision<S> => {
  const data = { status: 'error', attempt: state.output!.attempt, error: { ...error } };
  return { state, command: { type: 'fail', error, events: [outputEvent('output_failed', run, state, data)] } };
};

export const repairCommand = (state: RepairableState) => {
  const { attempt, error, text } = state.output!;
  return { type: 'repair_output', attempt, error, ...(text === undefined ? {} : { text }) } as const;
};

/** The next repair, while there is one left. */
function repair<S extends RepairableState>(run: RunFacts, state: S): Decision<S> {
  const { attempt, error } = state.output!;
  const { mode, maxRepairs } = run.output!;
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

function finished<S extends RepairableState>(
  run: RunFacts,
  state: S,
  step: StepDraft,
  before: EventDraft[],
  { value, reason, attempt }: { value: Json; reason: string; attempt: number },
): Decision<S> {
  const events = [...before, outputEvent('output_validated', run, state, { status: 'validated', attempt })];
  const output = { ...run.output!.meta, status: attempt === 0 ? 'validated' : 'repaired', attempt };
  const finish = { status: 'completed', reason, result: value, events, output } as const;
  return { state, step: { ...step, finish }, command: { type: 'finish' } };
}

const outputEvent = (kind: string, run: RunFacts, state: MachineState, data: Record<string, Json>): EventDraft => ({
  kind,
  iteration: state.iteration,
  data: { ...run.output!.meta, ...data },
});
