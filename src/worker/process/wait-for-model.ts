import { maxDelayMs } from '../../runs/limiter/refusals.ts';
import type { RunJobResult } from '../../runs/queue/queue.ts';
import type { CallDeferred } from '../part.ts';
import type { HeldJob } from './intake.ts';
import { waitOutside } from './limits.ts';

/** The feature that deferred the call wakes the run. Its job asks again this much later if no process is left that does. */
const lateMs = 30_000;

/**
 * Has a run wait, without a worker and without the slots of its limits, until its model may be called.
 *
 * @throws always, as `waitForLimit`
 */
export async function waitForModel(
  held: HeldJob,
  { waitsFor, delayMs, isOver, error }: CallDeferred,
): Promise<RunJobResult> {
  const { deps, worker, run } = held;
  await run.limits?.pause({ fresh: false }).catch(worker.onError);
  const until = delayMs === undefined ? undefined : new Date(deps.db.settings.clock.now() + delayMs).toISOString();
  const waiting = { ...waitsFor, ...(until && { until }), ...(error && { error: deps.redactor.value(error) }) };
  return waitOutside(
    held,
    waiting,
    delayMs === undefined ? maxDelayMs : Math.min(delayMs + lateMs, maxDelayMs),
    isOver,
  );
}
