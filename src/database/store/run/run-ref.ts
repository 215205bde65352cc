import type { WithResult } from '../../../agent/contracts/contract.ts';

/** Why a run ended. At a limit, the run is `completed` with the best result it has, which is often null. */
export type TerminationReason =
  // the strategy reached an answer
  | 'final_answer'
  | 'success'
  // limits
  | 'max_iterations'
  | 'max_total_tokens'
  | 'max_duration'
  | 'budget_exhausted'
  // the run did not complete
  | 'error'
  | 'cancelled'
  | 'poisoned'
  // of other strategies, yours included
  | (string & Record<never, never>);

/** A run by its thread and id. */
export interface RunRef<RESULT = unknown> extends WithResult<RESULT> {
  threadId: string;
  id: string;
}
