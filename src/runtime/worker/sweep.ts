import type { Database } from '../../postgres/pool.ts';
import { dispatch } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { expireApprovals } from '../../store/approval/expire-approvals.ts';
import { findDueRuns, type DueRun, type SweepLimits } from '../../store/run/find-due-runs.ts';
import { finishCancelledRun } from '../../store/run/finish-run.ts';
import { markJobsSeen } from '../../store/run/mark-jobs.ts';
import type { QueuedRun } from '../../store/run/queued-run.ts';
import { requeueRuns } from '../../store/run/requeue-runs.ts';

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
  const due = (work: DueRun['work']): DueRun[] => found.filter((run) => run.work === work);

  const { lost, present } = await locate(queue, due('queued'), due('expired'), onError);
  if (present.length > 0) await markJobsSeen(db, present);
  const jobs: QueuedRun[] = lost.length > 0 ? await requeueRuns(db, lost, limits) : [];
  for (const run of due('cancelled')) {
    const ended = await finishCancelledRun(db, run).catch(onError);
    if (ended?.promoted) jobs.push(ended.promoted);
  }
  for (const run of due('unapproved')) {
    const resumed = await expireApprovals(db, run, limits).catch(onError);
    if (resumed) jobs.push(resumed);
  }
  await Promise.all(jobs.map((job) => dispatch(db, queue, job, onError)));
  return jobs.length;
}

/** Which of these runs have a job. A queue that does not answer could not take one either: nothing is lost or present. */
async function locate(
  queue: RunQueue,
  queued: QueuedRun[],
  expired: QueuedRun[],
  onError: (error: unknown) => void,
): Promise<{ lost: QueuedRun[]; present: QueuedRun[] }> {
  const runs = [...queued, ...expired];
  const lost: QueuedRun[] = [];
  const present: QueuedRun[] = [];
  const places = runs.length > 0 ? await queue.places(runs).catch(onError) : undefined;
  for (const [i, place] of (places ?? []).entries()) {
    // The active job of an expired run is that of the dead worker.
    const isLost = place === 'gone' || (place === 'active' && i >= queued.length);
    (isLost ? lost : present).push(runs[i]!);
  }
  return { lost, present };
}
