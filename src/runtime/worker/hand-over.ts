import type { Database } from '../../postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { QueuedRun } from '../../store/commit-step.ts';
import type { HeldRun } from '../run/held-run.ts';
import { toJob } from '../../queue/job.ts';

/**
 * Gives a run back to the queue under the lease held, once nothing is done for it here any more. Where the job cannot be
 * added, the next sweep of any worker does it. Unless the worker is `stopping`, the claim counts as no progress: a run whose
 * commits the database always turns away must end at last.
 *
 * @returns whether it was still this worker's to give
 */
export async function handOver(db: Database, queue: RunQueue, run: HeldRun, stopping: boolean): Promise<boolean> {
  const [job] = await db.query<QueuedRun>('release_run', 'select * from lanefold.release_run($1, $2, $3, $4)', [
    run.threadId,
    run.runId,
    run.lease,
    stopping,
  ]);
  if (job) await queue.add(toJob(job), job.queue_shard).catch(() => {});
  return job !== undefined;
}
