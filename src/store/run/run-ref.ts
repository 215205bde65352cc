import type { WithResult } from '../../contracts/result-type.ts';

/** A run by its thread and id. */
export interface RunRef<RESULT = unknown> extends WithResult<RESULT> {
  threadId: string;
  id: string;
}
