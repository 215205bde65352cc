import { fromPostgres } from '../../../database/postgres/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { countRuns, type RunCounts } from '../../../database/store/run/count-runs.ts';
import { assertSchema } from '../../../database/store/schema/version.ts';
import { within } from '../../../base/common/timer.ts';
import { countWorkers, type FleetCounts } from '../../../database/store/worker/list-workers.ts';

/** The error of each service that does not answer; absent for a healthy one. */
export interface FleetHealth {
  database?: unknown;
  queue?: unknown;
}

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

export interface FleetStats extends RunCounts {
  /** How long the oldest delivery of a webhook that is due has been waiting for a worker, in seconds; 0 without one. */
  oldestDueDeliverySeconds: number;
  /** Workers by state; dead ones only if they were alive within the last hour. */
  fleet: FleetCounts;
  /** Jobs by queue and state, ended ones for as long as the queue keeps them; no counts if a queue does not answer. */
  jobs: { queue: string; counts: Record<string, number> }[];
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
