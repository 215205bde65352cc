import { checkHealth } from '../../runs/operations/fleet/health.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { askWorker } from '../../runs/queue/bull-workers.ts';
import type { BullWorker, RunQueue } from '../../runs/queue/queue.ts';
import { within } from '../../base/common/time-limit.ts';
import type { JobWorker } from './job-worker.ts';
import type { UnreadyReason, WorkerHealth } from './options.ts';

const answerTimeoutMs = 3_000;

/**
 * Checks the database and the queue, the queue also over the connections on which this worker takes jobs. Never
 * rejects.
 */
export async function workerHealth(
  db: Database,
  queue: RunQueue,
  workers: readonly BullWorker[],
  { phase, keeper, intake }: JobWorker,
): Promise<WorkerHealth> {
  const [services, taking] = await Promise.all([
    checkHealth(db, queue),
    within(answerTimeoutMs, Promise.all(workers.map(askWorker))).then(
      () => true,
      () => false,
    ),
  ]);
  const found: Record<UnreadyReason, boolean> = {
    stopping: phase !== 'working',
    database: 'database' in services || intake.paused,
    leases: keeper.late,
    queue: 'queue' in services || !taking,
  };
  const reasons = (Object.keys(found) as UnreadyReason[]).filter((reason) => found[reason]);
  return { ready: reasons.length === 0, reasons };
}
