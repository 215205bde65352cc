import type { Database } from '../postgres/pool.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { PromotedRun } from './commit.ts';
import type { HeldRun } from './held-run.ts';
import { toJob } from './sweep.ts';

/**
 * Gives a run back to the queue under the lease held, once nothing is done for it here any more. Where the job cannot be
 * added, the next sweep of any worker does it.
 *
 * @returns whether it was still this worker's to give
 */
export async function handOver(db: Database, queue: RunQueue, run: HeldRun): Promise<boolean> {
  const [job] = await db.query<PromotedRun>('release_run', 'select * from lanefold.release_run($1, $2, $3)', [
    run.threadId,
    run.runId,
    run.lease,
  ]);
  if (job) await queue.add(toJob(job), job.queue_shard).catch(() => {});
  return job !== undefined;
}
