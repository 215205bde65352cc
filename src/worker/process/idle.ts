import { delay } from '../../base/common/timer.ts';
import { hasDueRun } from '../../database/store/run/has-due-run.ts';
import type { WorkerPart } from '../part.ts';
import type { Background } from './background.ts';
import type { OpenWorker } from './open-worker.ts';

/** How often a worker that waits for its rest looks whether it has come, in ms. */
const lookMs = 100;

/**
 * Resolves once this worker has nothing to do: it holds no run, no run of its fleet waits for a worker such as this one, and
 * two sweeps in a row found nothing that led to a run. What waits for a time, a limit, an approval or an event is not
 * waited for.
 *
 * @throws the reason of `signal`, soon after that aborts
 */
export async function untilIdle(
  { deps: { db }, queue, known, since, worker: { intake, onError } }: OpenWorker,
  background: Background,
  parts: readonly WorkerPart[],
  signal: AbortSignal,
): Promise<void> {
  const isBusy = () => intake.busy > 0 || parts.some((part) => part.isBusy?.());
  // while the database does not answer, runs may be due
  const isDue = async () => {
    try {
      return await hasDueRun(db, { queuePrefix: queue.prefix, ...known, since: await since() });
    } catch (error) {
      onError(error);
      return true;
    }
  };
  for (let entered = -1, all = true; entered < intake.entered; all = false) {
    entered = intake.entered;
    await background.sweep({ all });
    while (isBusy() || (await isDue())) await delay(lookMs, { signal });
    signal.throwIfAborted();
  }
}
