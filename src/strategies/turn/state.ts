import type { RepairableState } from './finish.ts';

/** Everything a ReAct run needs to go on after a crash, besides the log and the ledger. */
export interface ReactState extends RepairableState {
  /** Number of the model call last started; `<run_id>.<call_no>` is its id. */
  call_no: number;
  /** Retries of the call in this iteration. */
  retries: number;
  /** Signature of the last tool round, for the cycle warning. */
  signature?: string;
}

export const callId = (runId: string, state: ReactState): string => `${runId}.${state.call_no}`;
