import type { Database } from '../../postgres/pool.ts';
import { jobPlaces } from '../../queue/places.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { DueRun } from '../../store/run/sweep-limits.ts';

export interface JobsOfRuns {
  /** Runs whose job was lost, by the queue or by a worker that died. */
  lost: DueRun[];
  /** The lost runs that a worker had already taken: their new job goes ahead of the waiting jobs. */
  first: Set<DueRun>;
  present: DueRun[];
}

/**
 * Finds the runs that have lost their job. If their lease has `expired`, an active job belongs to the dead worker and
 * counts as lost. If the queue does not answer, both lists are empty: it could not take new jobs either.
 */
export async function findLostJobs(
  db: Database,
  queue: RunQueue,
  runs: DueRun[],
  { expired, onError }: { expired: boolean; onError: (error: unknown) => void },
): Promise<JobsOfRuns> {
  const found: JobsOfRuns = { lost: [], first: new Set(), present: [] };
  const places = runs.length > 0 ? await jobPlaces(db, queue, runs).catch(onError) : undefined;
  for (const [i, place] of (places ?? []).entries()) {
    const run = runs[i]!;
    const isLost = place === 'gone' || place === 'stalled' || (place === 'active' && expired);
    (isLost ? found.lost : found.present).push(run);
    if (isLost && (run.taken || place === 'stalled')) found.first.add(run);
  }
  return found;
}
