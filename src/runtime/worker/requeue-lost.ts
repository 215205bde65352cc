import type { Database } from '../../postgres/pool.ts';
import { dispatchAll, dispatchFirst } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { requeueRuns } from '../../store/run/requeue-runs.ts';
import type { DueRun, SweepLimits } from '../../store/run/sweep-limits.ts';
import { findLostJobs } from './find-lost-jobs.ts';
import { markJobsSeen } from '../../store/run/find-jobs.ts';

export interface Sweeping {
  db: Database;
  queue: RunQueue;
  limits: SweepLimits;
  onError: (error: unknown) => void;
}

/** Adds a new job for each of these runs that has lost its job, in order. Returns how many. */
export async function requeueLost(
  { db, queue, limits, onError }: Sweeping,
  runs: DueRun[],
  { expired }: { expired: boolean },
): Promise<number> {
  const { lost, first, present } = await findLostJobs(db, queue, runs, { expired, onError });
  if (present.length > 0) await markJobsSeen(db, present);
  if (lost.length === 0) return 0;
  const requeued = await requeueRuns(db, lost, limits);
  const newJob = new Map(requeued.map((job) => [`${job.thread_id} ${job.run_id}`, job]));
  const jobsOf = (some: DueRun[]) =>
    some.flatMap(({ thread_id, run_id, priority }) => {
      const job = newJob.get(`${thread_id} ${run_id}`);
      return job ? [{ ...job, ...(priority ? { priority } : {}) }] : [];
    });
  await dispatchFirst(db, queue, jobsOf(lost.filter((run) => first.has(run))), onError);
  await dispatchAll(db, queue, jobsOf(lost.filter((run) => !first.has(run))), 'back', onError);
  return requeued.length;
}
