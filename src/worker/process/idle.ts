import { delay, onAbort } from '../../base/common/timer.ts';
import { hasDueRun } from '../../database/store/run/has-due-run.ts';
import type { WorkerPart } from '../part.ts';
import type { Background } from './background.ts';
import type { OpenWorker } from './open-worker.ts';

/** How often a worker that waits for its rest looks whether it has come, in ms. */
const lookMs = 100;
/** The pause before a sweep that is repeated because something failed, in ms. */
const retryMs = 1_000;

/**
 * Resolves once this worker has nothing to do: it holds no run, no run of its fleet waits for a worker such as this one,
 * and its last sweep failed in nothing and led to no run. What waits for a time, a limit, an approval or an event is
 * not waited for.
 *
 * @throws the reason of `signal`, as soon as that aborts
 */
export async function untilIdle(
  { deps: { db }, queue, known, since, faults, worker: { intake, onError } }: OpenWorker,
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
  const over = new Promise<never>((_, reject) => void onAbort(signal, () => reject(signal.reason as Error)));
  over.catch(() => {});
  for (let entered = -1, failed = -1; entered < intake.entered || failed < faults.count;) {
    const isFirst = entered < 0;
    const isRepeated = failed < faults.count;
    if (isRepeated && !isFirst) await delay(retryMs, { signal });
    entered = intake.entered;
    failed = faults.count;
    // a sweep takes as long as there is work: with many slots or evals, longer than the time that is left
    await Promise.race([background.sweep({ all: isRepeated }), over]);
    while (isBusy() || (await isDue())) await delay(lookMs, { signal });
    signal.throwIfAborted();
  }
}
