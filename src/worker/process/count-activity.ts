import { countActivity } from '../../database/store/activity/count-activity.ts';
import type { WorkerPart } from '../part.ts';
import type { OpenWorker } from './open-worker.ts';

/** How long one call goes on while there is more to count: an older database has all its runs. */
const busyMs = 1_000;

/** Counts the runs that have ended, for charts over time. */
export function activityCounts({ deps: { db } }: OpenWorker): WorkerPart {
  const work = async () => {
    const endAt = performance.now() + busyMs;
    while ((await countActivity(db)) && performance.now() < endAt);
  };
  return { sweeps: [{ everyMs: 10_000, pauses: 4, work }] };
}
