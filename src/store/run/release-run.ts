import type { Database } from '../../postgres/pool.ts';
import type { HeldLease } from './held-lease.ts';
import type { QueuedRun } from './queued-run.ts';

/**
 * Gives a run back to the queue under the lease held. Unless the worker is `stopping`, the claim counts as one without
 * progress. Undefined where the run is no longer this worker's to give.
 */
export async function releaseRun(db: Database, run: HeldLease, stopping: boolean): Promise<QueuedRun | undefined> {
  const [job] = await db.queryLocking<QueuedRun>(
    'release_run',
    'select thread_id, run_id, agent, enqueue_no, queue_shard from lanefold.release_run($1, $2, $3, $4)',
    [run.threadId, run.runId, run.lease, stopping],
  );
  return job;
}
