import { fromPostgres } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';
import { assertSchema } from '../store/schema/version.ts';
import type { RunQueue } from '../queue/queue.ts';

/** The error of what does not answer; undefined where all is well. */
export interface Health {
  database?: unknown;
  queue?: unknown;
}

const patienceMs = 3_000;

/** Asks the database for its schema and the queue for a sign of life. Never rejects. */
export async function checkHealth(db: Database, queue: RunQueue): Promise<Health> {
  const [database, jobs] = await Promise.allSettled([
    within(patienceMs, assertSchema(db.pool)).catch((error: unknown) => {
      throw fromPostgres(error);
    }),
    within(patienceMs, Promise.all(queue.queues.map((q) => q.getJobCounts('waiting')))),
  ]);
  return {
    ...(database.status === 'rejected' ? { database: database.reason as unknown } : {}),
    ...(jobs.status === 'rejected' ? { queue: jobs.reason as unknown } : {}),
  };
}

export interface Stats {
  /** Runs that have not ended, by status. */
  runs: Record<'waiting' | 'queued' | 'running' | 'suspended', number>;
  /** How long the oldest queued run has been waiting for a worker, in seconds; 0 without one. */
  oldestQueuedSeconds: number;
  /** Jobs by queue and state; ended ones as long as the queue keeps them. None of a queue that does not answer. */
  jobs: { queue: string; counts: Record<string, number> }[];
}

/** Counts what is under way: by the indexes of unfinished runs, so that the cost does not grow with history. */
export async function readStats(db: Database, queue: RunQueue): Promise<Stats> {
  const [rows, jobs] = await Promise.all([
    db.query<{ status: keyof Stats['runs']; n: number; oldest: number | null }>(
      'stats',
      `select status, count(*)::int as n, max(extract(epoch from clock_timestamp() - enqueued_at))::float8 as oldest
       from lanefold._run where active group by status
       union all select 'waiting', count(*)::int, null from lanefold._run where status = 'waiting'`,
    ),
    Promise.all(
      queue.queues.map(async (q) => ({
        queue: q.name,
        counts: await within(patienceMs, q.getJobCounts()).catch(() => ({})),
      })),
    ),
  ]);
  const runs = { waiting: 0, queued: 0, running: 0, suspended: 0 };
  for (const row of rows) runs[row.status] = row.n;
  return { runs, oldestQueuedSeconds: rows.find((row) => row.status === 'queued')?.oldest ?? 0, jobs };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
