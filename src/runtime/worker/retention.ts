import type { Database } from '../../postgres/pool.ts';

const batch = 100;
const pauseMs = 600_000;

/**
 * Empties old traces: a batch at each call while there are some, then one look every ten minutes. `days` of 0 keeps
 * them for ever.
 */
export function traceRetention(db: Database, days: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    const [row] = await db.query<{ runs: number }>(
      'drop_traces',
      `select coalesce(sum(lanefold.drop_trace(d.thread_id, d.ids)), 0)::int as runs from (
         select thread_id, array_agg(id) as ids from (
           select thread_id, id from lanefold._run
           where finished_at < (select lanefold._now() - $1::float8 * interval '1 day') and trace_dropped_at is null
           order by finished_at limit $2) due
         group by thread_id) d`,
      [days, batch],
    );
    if (row!.runs === 0) nextAt = performance.now() + pauseMs;
  };
}
