import type { Database } from '../../postgres/pool.ts';
import { dispatch } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { expireApprovals } from '../../store/approval/expire-approvals.ts';
import { findDueRuns, type DueRun, type SweepLimits } from '../../store/run/find-due-runs.ts';
import { finishCancelledRun } from '../../store/run/finish-run.ts';
import { markJobsSeen } from '../../store/run/mark-jobs.ts';
import type { QueuedRun } from '../../store/run/queued-run.ts';
import { requeueRuns } from '../../store/run/requeue-runs.ts';
import { findLostJobs } from './find-lost-jobs.ts';

export interface SweepOptions extends Omit<SweepLimits, 'queuePrefix' | 'adoptMs'> {
  onError: (error: unknown) => void;
}

/** Runs of another fleet are left to its own workers this long; after that the fleet counts as gone. */
const adoptMs = 300_000;

/**
 * Recovers runs that no worker holds and the queue does not know: expired leases, and queued runs whose job was never
 * added or was lost. The `run` table is the outbox; the sweep is what makes it one. It also ends cancelled runs that did
 * not stop in time, and denies calls that nobody decided on in time.
 *
 * @returns how many jobs were added
 */
export async function sweep(db: Database, queue: RunQueue, { onError, ...options }: SweepOptions): Promise<number> {
  const limits: SweepLimits = { ...options, queuePrefix: queue.prefix, adoptMs };
  const found = await findDueRuns(db, limits);
  const add = (jobs: QueuedRun[]) => Promise.all(jobs.map((job) => dispatch(db, queue, job, onError)));
  const due = (work: DueRun['work']): DueRun[] => found.filter((run) => run.work === work);

  const { lost, present } = await findLostJobs(queue, due('queued'), due('expired'), onError);
  if (present.length > 0) await markJobsSeen(db, present);
  const requeued = lost.length > 0 ? await requeueRuns(db, lost, limits) : [];
  await add(requeued);
  const resumed: QueuedRun[] = [];
  for (const run of due('cancelled')) {
    const ended = await finishCancelledRun(db, run).catch(onError);
    if (ended?.promoted) resumed.push(ended.promoted);
  }
  for (const run of due('unapproved')) {
    const job = await expireApprovals(db, run, limits).catch(onError);
    if (job) resumed.push(job);
  }
  await add(resumed);
  return requeued.length + resumed.length;
}
