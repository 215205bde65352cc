import type { Database } from '../postgres/pool.ts';
import { isQueued } from '../store/run/is-queued.ts';
import { markJobMissing } from '../store/run/mark-jobs.ts';
import type { QueuedRun } from '../store/run/queued-run.ts';
import type { QueueEnd, RunQueue } from './queue.ts';

/**
 * Adds the job of a queued run, behind those that wait. The run's row is the outbox: a job that cannot be added now is
 * added by the next sweep of any worker, so an error is reported and never thrown. A run of another fleet, whose queue
 * cannot be reached from here, is marked as one without a job, and that fleet's next sweep adds it.
 *
 * So is the job of the next waiting run of a thread: ahead of the others, a thread that always has one waiting would keep
 * its worker for ever.
 */
export const dispatch = (
  db: Database,
  queue: RunQueue,
  run: QueuedRun,
  onError?: (error: unknown) => void,
): Promise<void> => dispatchAll(db, queue, [run], 'back', onError);

/** Adds the jobs of runs that have begun ahead of those that wait: their turn came long ago. See `dispatch`. */
export const dispatchFirst = (
  db: Database,
  queue: RunQueue,
  runs: readonly QueuedRun[],
  onError?: (error: unknown) => void,
): Promise<void> => dispatchAll(db, queue, runs, 'front', onError);

/** Adds the jobs of runs in their order. See `dispatch`. */
export async function dispatchAll(
  db: Database,
  queue: RunQueue,
  runs: readonly QueuedRun[],
  end: QueueEnd,
  onError: (error: unknown) => void = () => {},
): Promise<void> {
  const isOwn = (run: QueuedRun) => run.queue_prefix === undefined || run.queue_prefix === queue.prefix;
  try {
    await queue.addAll(runs.filter(isOwn), end);
    for (const run of runs) if (!isOwn(run)) await markJobMissing(db, run);
  } catch (error) {
    onError(error);
  }
}
const firstPollMs = 10;
const lastPollMs = 5_000;

/**
 * Adds the job once the caller's transaction has committed. Nothing reports that commit, so the run is polled, less and
 * less often, and then left to the sweep. A run that was rolled back is never found.
 */
export async function dispatchOnceCommitted(db: Database, queue: RunQueue, run: QueuedRun): Promise<void> {
  for (let pauseMs = firstPollMs; pauseMs < lastPollMs; pauseMs *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    try {
      if (await isQueued(db, run)) return await dispatch(db, queue, run);
    } catch {
      return;
    }
  }
}
