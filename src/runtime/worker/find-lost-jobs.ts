import type { RunQueue } from '../../queue/queue.ts';
import type { QueuedRun } from '../../store/run/queued-run.ts';

/**
 * Which of these runs have lost their job. A queue that does not answer could not take a new one either: then no run is
 * lost or present.
 */
export async function findLostJobs(
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
