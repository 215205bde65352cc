import { UnrecoverableError } from 'bullmq';
import { isLanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { Interruption } from '../../telemetry/telemetry.ts';
import { cleanText } from '../../checks/text.ts';
import { LimitReached } from '../limits/limit-reached.ts';
import { Released, isLost } from '../run/held-run.ts';
import type { HeldJob } from './held-job.ts';
import { waitForLimit } from './limited-run.ts';
import { ToolsElsewhere } from '../run/tools-elsewhere.ts';
import { leaveToOthers } from './with-tools.ts';
import { dispatchFirst } from '../../queue/dispatch.ts';
import { releaseRun } from '../../store/run/requeue-runs.ts';

/**
 * Returns a run to the queue under its current lease, once this worker has stopped working on it. Unless the worker is
 * `stopping`, the claim counts as one without progress: a run whose commits the database always rejects must end.
 *
 * @returns whether the run still belonged to this worker
 */
async function release({ deps: { db }, queue, worker, run }: HeldJob, stopping: boolean): Promise<boolean> {
  const job = await releaseRun(db, run, stopping);
  if (!job) return false;
  // before another worker asks for it: the slot may be the only one, and no worker may be left
  await run.limits?.pause({ fresh: false }).catch(worker.onError);
  await dispatchFirst(db, queue, [job]);
  return true;
}

/**
 * Decides what happens to a run that this worker cannot finish. Nothing is lost: the next worker continues from the
 * last commit. If the run no longer belongs to this worker, its job just ends; after a failover that lost commits, the
 * run is first returned to the queue, so that it need not wait for its lease to expire. A worker that is leaving, makes
 * room for a run alone or has a failing database releases the run; otherwise the lease expires and the sweep finds
 * the run.
 */
export async function onInterrupted(held: HeldJob, error: unknown): Promise<RunJobResult> {
  const { worker, run } = held;
  if (error instanceof LimitReached) return waitForLimit(held, error);
  if (error instanceof ToolsElsewhere) return leaveToOthers(held, error);
  if (error instanceof UnrecoverableError) throw error;
  if (isLost(error)) {
    worker.keeper.drop(run);
    if (isLanefoldError(error, 'step_ahead')) await release(held, false).catch(() => false);
    return { status: 'lease_lost' };
  }
  const leaving = run.signal.reason instanceof Released;
  if (leaving || isTransient(error)) {
    worker.keeper.drop(run);
    const released = await release(held, leaving).catch(() => false);
    if (released && leaving) {
      worker.released += 1;
      return { status: 'released' };
    }
  }
  worker.onError(error);
  throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
}

export const interruptionOf = (error: unknown): Interruption => {
  if (error instanceof Released || error instanceof LimitReached || error instanceof ToolsElsewhere) return 'released';
  return isLost(error) ? 'lost' : 'failed';
};
