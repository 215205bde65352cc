import type { Database } from '../../postgres/pool.ts';
import { jobPlaces } from '../../queue/places.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { DueRun } from '../../store/run/sweep-limits.ts';

export interface JobsOfRuns {
  /** Runs whose job the queue has lost, or a worker that died. */
  lost: DueRun[];
  /** Of the lost ones, those whose turn had come: their new job goes ahead of the jobs that wait. */
  first: Set<DueRun>;
  present: DueRun[];
}

/**
 * Which of these runs have lost their job. The active job of a run whose lease is `expired` is that of the dead worker. A
 * queue that does not answer could not take a new job either: then no run has lost its job, and none has one.
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
