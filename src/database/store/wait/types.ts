// Generated from declaration.ts beside it: run `npm run types:api`.

import type { Call } from '../run/types.ts';
import type { RunRef } from '../run/run-ref.ts';

/** A tool call that waits for an event, a time or another run. */
export interface PendingWait {
  threadId: string;
  runId: string;
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'event' | 'time' | 'run';
  /** The event it waits for. */
  event: string | null;
  /** The run it waits for. */
  run: RunRef | null;
  /** Since when it waits. */
  since: Date;
  /** When it ends by itself; null: never. */
  until: Date | null;
}
