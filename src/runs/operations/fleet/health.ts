import { fromPostgres } from '../../../database/postgres/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { countRuns } from '../../../database/store/run/count-runs.ts';
import { assertSchema } from '../../../database/store/schema/version.ts';
import { within } from '../../../base/common/timer.ts';
import { countWorkers } from '../../../database/store/worker/list-workers.ts';
import type { FleetStats } from '../../../database/store/worker/types.ts';
import type { FleetHealth } from './types.ts';

const answerTimeoutMs = 3_000;

/** Asks the database for its schema version and the queue for a job count. Never rejects. */
export async function checkHealth(
  db: Database,
  queue: RunQueue,
  { queueTimeoutMs = answerTimeoutMs }: { queueTimeoutMs?: number } = {},
): Promise<FleetHealth> {
  const [database, jobs] = await Promise.allSettled([
    within(answerTimeoutMs, assertSchema(db.pool)).catch((error: unknown) => {
      throw fromPostgres(error);
    }),
    within(queueTimeoutMs, Promise.all(queue.queues.map((q) => q.getJobCounts('waiting')))),
  ]);
  return {
    ...(database.status === 'rejected' ? { database: database.reason as unknown } : {}),
    ...(jobs.status === 'rejected' ? { queue: jobs.reason as unknown } : {}),
  };
}

/** @param oldestDueSeconds see `oldestDueDeliverySeconds` */
export async function readStats(
  db: Database,
  queue: RunQueue,
  oldestDueSeconds: (db: Database) => Promise<number>,
): Promise<FleetStats> {
  const [counts, oldestDueDeliverySeconds, fleet, jobs] = await Promise.all([
    countRuns(db),
    oldestDueSeconds(db),
    countWorkers(db),
    Promise.all(
      queue.queues.map(async (q) => ({
        queue: q.name,
        counts: await within(answerTimeoutMs, q.getJobCounts()).catch(() => ({})),
      })),
    ),
  ]);
  return { ...counts, oldestDueDeliverySeconds, fleet, jobs };
}
