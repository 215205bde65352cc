import { UnrecoverableError } from 'bullmq';
import { isLanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { RunJobResult } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { Interruption } from '../../telemetry/telemetry.ts';
import { cleanText } from '../../text.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { HandedOver, type HeldRun } from '../run/held-run.ts';
import { isLost } from '../run/lost.ts';
import { handOver } from './hand-over.ts';
import type { JobWorker } from './job-worker.ts';

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
