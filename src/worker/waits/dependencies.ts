import type { Counting } from '../../agent/models/counting/counting.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import type { RunHandle, RunRef } from '../../database/store/run/run.ts';
import type { WaitFleet } from '../../database/store/wait/wait-fleet.ts';
import type { StoredChild } from '../../database/store/wait/wait-tasks.ts';

/** How the runs that tool calls start are requested. */
export interface ChildRequests {
  start(tenant: string, child: RunRef, request: StoredChild): Promise<RunHandle>;
  cancel(tenant: string, run: RunRef): Promise<unknown>;
}

export interface WaitDependencies {
  db: Database;
  queue: RunQueue;
  counting: Counting;
  /** The agents of this process. */
  agents: readonly string[];
  /** Whose waits this process looks after. */
  fleet: WaitFleet;
  children: ChildRequests;
  onError: (error: unknown) => void;
}
