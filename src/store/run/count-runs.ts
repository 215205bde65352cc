import type { Database } from '../../postgres/pool.ts';

export interface RunCounts {
  /** Runs that have not ended, by status. */
  runs: Record<'waiting' | 'queued' | 'running' | 'suspended', number>;
  /** How long the oldest queued run has been waiting for a worker, its delay not counted, in seconds; 0 without one. */
  oldestQueuedSeconds: number;
}

/** Counts unfinished runs by the indexes that hold only those, so that the cost does not grow with history. */
export async function countRuns(db: Database): Promise<RunCounts> {
  const rows = await db.query<{ status: keyof RunCounts['runs']; n: number; oldest: number | null }>(
    'count_runs',
    `select status, count(*)::int as n,
       max(greatest(0, extract(epoch from lanefold._now() - greatest(enqueued_at, start_at))))::float8 as oldest
     from lanefold._run where active group by status
     union all select 'waiting', count(*)::int, null from lanefold._run where not active and finished_at is null`,
  );
  const runs = { waiting: 0, queued: 0, running: 0, suspended: 0 };
  for (const row of rows) runs[row.status] = row.n;
  return { runs, oldestQueuedSeconds: rows.find((row) => row.status === 'queued')?.oldest ?? 0 };
}
