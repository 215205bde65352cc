import type { Json } from '../../../agent/context/message.ts';
import type { RunRef } from './run-ref.ts';
import type { RunState, RunStatus } from './types.ts';

export type { RunRef, TerminationReason } from './run-ref.ts';

export interface RunHandle<RESULT = unknown> extends RunRef<RESULT> {
  requestId: string;
  /**
   * For a new run: `queued`, `waiting` behind another run of its thread, or `running` if a worker of this process took it
   * at once.
   */
  status: RunStatus;
  /** The request was accepted before. */
  duplicate: boolean;
}

/** A run. The rest of what is known of it is declared in `declaration.ts`. */
export interface Run<RESULT = Json> extends RunState, RunRef<RESULT> {
  /** Null until the run completes, and if it ended without a result: failed, or at a limit (`terminationReason`). */
  result: RESULT | null;
}
