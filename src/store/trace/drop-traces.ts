import type { Database } from '../../postgres/pool.ts';

/**
 * Empties the traces of the oldest runs that ended more than `days` ago, at most `limit`. Threads at work are left for
 * the next time. Returns how many were emptied.
 */
export async function dropTraces(db: Database, days: number, limit: number): Promise<number> {
  const due = await db.query<{ thread_id: string; run_ids: string[] }>(
    'find_old_traces',
    `select thread_id, array_agg(id) as run_ids from (
       select thread_id, id from lanefold._run
       where finished_at < lanefold._now() - $1::float8 * interval '1 day' and trace_dropped_at is null
       order by finished_at limit $2) due group by thread_id`,
    [days, limit],
  );
  if (due.length === 0) return 0;
  const [row] = await db.query<{ runs: number }>(
    'drop_traces',
    `select coalesce(sum(lanefold.drop_trace(d.thread_id, d.run_ids)), 0)::int as runs
     from jsonb_to_recordset($1) as d (thread_id text, run_ids text[])`,
    [JSON.stringify(due)],
  );
  return row!.runs;
}
