import type { Database } from '../../postgres/pool.ts';

/**
 * Empties the traces of the oldest runs that ended more than `days` ago, at most `limit`. Threads at work are left for
 * the next time. Returns how many were due, within the limit, and how many of them were emptied.
 */
export async function dropTraces(db: Database, days: number, limit: number): Promise<{ due: number; dropped: number }> {
  const due = await db.query<{ thread_id: string; run_ids: string[] }>(
    'find_old_traces',
    `select thread_id, array_agg(id) as run_ids from (
       select thread_id, id from lanefold._run
       where finished_at < (select lanefold._now() - $1::float8 * interval '1 day') and trace_dropped_at is null
       order by finished_at limit $2) due group by thread_id`,
    [days, limit],
  );
  if (due.length === 0) return { due: 0, dropped: 0 };
  const [row] = await db.query<{ dropped: number }>(
    'drop_traces',
    `select coalesce(sum(lanefold.drop_trace(d.thread_id, d.run_ids)), 0)::int as dropped
     from jsonb_to_recordset($1) as d (thread_id text, run_ids text[])`,
    [JSON.stringify(due)],
  );
  return { due: due.reduce((sum, { run_ids }) => sum + run_ids.length, 0), dropped: row!.dropped };
}
