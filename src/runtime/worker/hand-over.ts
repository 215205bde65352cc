import type { Database } from '../../postgres/pool.ts';
import { dispatchFirst } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { releaseRun } from '../../store/run/release-run.ts';
import type { HeldRun } from '../run/held-run.ts';

/**
 * Gives a run back to the queue under the lease held, once this worker has stopped working on it. Unless the worker is
 * `stopping`, the claim counts as one without progress: a run whose commits the database always rejects must end.
 *
 * @returns whether it was still this worker's to give
 */
export async function handOver(db: Database, queue: RunQueue, run: HeldRun, stopping: boolean): Promise<boolean> {
  const job = await releaseRun(db, run, stopping);
  if (job) await dispatchFirst(db, queue, [job]);
  return job !== undefined;
}
