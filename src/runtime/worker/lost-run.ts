import { UnrecoverableError } from 'bullmq';
import { isLanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { Interruption } from '../../telemetry/telemetry.ts';
import { cleanText } from '../../checks/text.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { HandedOver, type HeldRun, isLost } from '../run/held-run.ts';
import type { JobWorker } from './job-worker.ts';
import type { Database } from '../../postgres/pool.ts';
import { dispatchFirst } from '../../queue/dispatch.ts';
import { releaseRun } from '../../store/run/requeue-runs.ts';

/**
 * Gives a run back to the queue under the lease held, once this worker has stopped working on it. Unless the worker is
 * `stopping`, the claim counts as one without progress: a run whose commits the database always rejects must end.
 *
 * @returns whether it was still this worker's to give
 */
async function handOver(db: Database, queue: RunQueue, run: HeldRun, stopping: boolean): Promise<boolean> {
  const job = await releaseRun(db, run, stopping);
  if (job) await dispatchFirst(db, queue, [job]);
  return job !== undefined;
}

/**
 * What becomes of a run that this worker cannot drive to its end. Nothing is lost: the next worker continues from the
 * last commit. A run that is no longer this worker's just ends its job; one that is behind this worker, after a failover
 * that lost commits, is given back first, so that nobody waits for its lease. A worker that is leaving, that
 * makes room for a run alone, or whose database fails, hands the run over; otherwise the lease expires and the sweep finds the run.
 */
export async function onInterrupted(
  { db }: RunDependencies,
  queue: RunQueue,
  worker: JobWorker,
  run: HeldRun,
  error: unknown,
): Promise<RunJobResult> {
  if (error instanceof UnrecoverableError) throw error;
  if (isLost(error)) {
    worker.keeper.release(run);
    if (isLanefoldError(error, 'step_ahead')) await handOver(db, queue, run, false).catch(() => false);
    return { status: 'lease_lost' };
  }
  const leaving = run.signal.reason instanceof HandedOver;
  if (leaving || isTransient(error)) {
    worker.keeper.release(run);
    const handed = await handOver(db, queue, run, leaving).catch(() => false);
    if (handed && leaving) {
      worker.handedOver += 1;
      return { status: 'handed_over' };
    }
  }
  worker.onError(error);
  throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
}

export const interruptionOf = (error: unknown): Interruption => {
  if (error instanceof HandedOver) return 'handed_over';
  return isLost(error) ? 'lost' : 'failed';
};
