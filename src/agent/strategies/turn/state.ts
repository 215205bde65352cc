import type { StrategyState } from '../machine.ts';

/**
 * State of a strategy built on turns, stored with every step. A resumed run has only this state, the log and the
 * ledger.
 */
export interface TurnState extends StrategyState {
  /** Number of the last model call started; `<run_id>.<call_no>` is its id. */
  call_no: number;
  /** Retries so far of the current model call or repair. */
  retries: number;
  /** How many cut answers the next one continues. */
  parts?: number | undefined;
  /** The current model call was refused as too long and is made once more with a shorter request. */
  shortened?: true | undefined;
  /** Set while the output is being repaired. */
  output?: RepairState;
}

export interface RepairState {
  /** Repairs started so far. */
  attempt: number;
  /** Why the answer, or its last repair, violates the contract. */
  error: string;
  /** The check timed out, so no repair follows. */
  timed_out?: true;
  /** Of the answer. */
  finish_reason: string | null;
}

/** The run waits for its first model call. */
export const firstState: TurnState = { phase: 'llm', iteration: 1, round: 0, call_no: 1, retries: 0 };

/** The run waits for the model call of its next iteration. */
export const nextIteration = <S extends TurnState>(state: S): S => ({
  ...state,
  phase: 'llm',
  iteration: state.iteration + 1,
  call_no: state.call_no + 1,
  retries: 0,
  ...(state.tools ? { tools: undefined } : {}),
  ...(state.cut ? { cut: undefined } : {}),
  ...(state.parts ? { parts: undefined } : {}),
  ...(state.shortened ? { shortened: undefined } : {}),
});

export const callId = (run: { runId: string }, state: TurnState): string => `${run.runId}.${state.call_no}`;
