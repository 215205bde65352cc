import type {
  StrategyDecision,
  RunFacts,
  StepDraft,
  Command,
  EventDraft,
  EntryDraft,
  StrategyEvent,
  StrategyState,
  CallOutcome,
} from '../machine.ts';
import {
  outputEvent,
  checkpoint,
  toolCompleted,
  toolStarted,
  nextIteration,
  type Answered,
  type TurnState,
  type RepairState,
} from './events.ts';
import { asking, placeAfter, placeAgain } from '../fallback.ts';
import type { Checked } from '../../contracts/contract.ts';
import type { RunError } from '../records.ts';
import type { Json, ToolCall } from '../../context/message.ts';

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

/** Starts the first repair of an answer that violates the run's contract; fails the run if the contract allows no repair. */
const startRepair = <S extends TurnState>(
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
const failureOf = ({
  message,
  timedOut,
}: Extract<Checked, { ok: false }>): Pick<RepairState, 'error' | 'timed_out'> => ({
  error: message,
  ...(timedOut ? { timed_out: true } : {}),
});

/** Repeats the repair during which the worker died. */
export function resumeRepair<S extends TurnState>(run: RunFacts, committed: S): StrategyDecision<S> {
  const state: S = { ...committed, place: placeAgain(run, committed.place) };
  return state.output!.attempt > 0 ? { state, command: repairCommand(run, state) } : nextRepair(run, state);
}

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

export const repairCommand = (run: RunFacts, state: TurnState): Extract<Command, { type: 'repair_output' }> => {
  const { attempt, error } = state.output!;
  return { type: 'repair_output', attempt, error, ...asking(run, state.place) };
};

function nextRepair<S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> {
  const { attempt, error, timed_out: timedOut } = state.output!;
  const { mode, maxRepairs } = run.output!;
  if (timedOut) return failRepair(run, state, { type: 'validation_timeout', message: error });
  if (mode === 'error' || attempt >= maxRepairs) {
    return failRepair(run, state, { type: 'output_validation', message: error });
  }
  const place = placeAfter(state.place);
  const next: S = { ...state, retries: 0, place, output: { ...state.output!, attempt: attempt + 1 } };
  const data = { status: 'repair', attempt: attempt + 1, validation_error: error };
  return {
    state: next,
    step: { events: [outputEvent('output_repair', run, next, data)] },
    command: repairCommand(run, next),
  };
}

interface ValidatedOutput {
  value: Json;
  /** Number of repairs it took. */
  attempt: number;
  /** Of the answer. */
  finish_reason: string | null;
}

/** Ends a run with an output that meets its contract. `events` precede the validation event. */
function finishValidated<S extends TurnState>(
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

export type ToolsFinished = Extract<StrategyEvent, { type: 'tools_finished' }>;

/**
 * Commits the assistant message with the ledger rows of its calls, then runs the calls.
 *
 * @param limits the only tools the calls may use, undefined: all of the run's; and how the answer was cut
 */
export function startToolRound<S extends TurnState>(
  state: S,
  { entries, events }: { entries: EntryDraft[]; events: EventDraft[] },
  calls: ToolCall[],
  { tools, cut }: Pick<Answered, 'tools' | 'cut'>,
): StrategyDecision<S> {
  const next: S = {
    ...state,
    tools,
    cut,
    phase: 'tools',
    round: state.round + 1,
  };
  return {
    state: next,
    step: {
      entries,
      events: [...events, ...calls.map((call) => toolStarted(state, call))],
      calls: calls.map((call, index) => ({ index, id: call.id, name: call.name })),
    },
    command: { type: 'run_tools', round: next.round, calls },
  };
}

/** The step that ends a tool round. */
export function toolRoundStep(state: TurnState, finished: ToolsFinished): StepDraft & { entries: EntryDraft[] } {
  const results = toolResults(state, finished);
  return { ...results, events: [...results.events, checkpoint(nextIteration(state), 'after_tools')] };
}

/** A tool message for each call of a round that has ended, in call order, and the outcomes for the ledger. */
export function toolResults(
  state: StrategyState,
  { calls, outcomes }: ToolsFinished,
): StepDraft & { entries: EntryDraft[]; events: EventDraft[] } {
  const effects = outcomes.flatMap((o, i) => o.effects?.map((effect) => ({ ...effect, call_index: i })) ?? []);
  return {
    entries: calls.map((call, i) => toolEntry(state, call, outcomes[i]!)),
    events: calls.map((call, i) => toolCompleted(state, call, outcomes[i]!, i)),
    outcomes: outcomes.map((o) => ({ status: o.status, attempts: o.attempts, duration_ms: o.durationMs })),
    ...(effects.length > 0 ? { effects } : {}),
  };
}

const toolEntry = (state: StrategyState, call: ToolCall, outcome: CallOutcome): EntryDraft => ({
  role: 'tool',
  payload: { content: outcome.content, tool_call_id: call.id, name: call.name },
  refs: { iteration: state.iteration, ...(outcome.cleaned ? { cleaned: true } : {}), ...outcome.refs },
});
