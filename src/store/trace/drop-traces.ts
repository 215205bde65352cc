import type { Database } from '../../postgres/pool.ts';

/** Due runs looked at per call, so that a thread a writer holds does not keep the traces of others. */
const lookahead = 10;

/**
 * Empties the traces of the oldest runs that ended more than `days` ago, about `limit` of them. Threads that a writer
 * holds are left for the next time. Returns how many runs were due, as far as it looked, and how many it emptied.
 */
export async function dropTraces(db: Database, days: number, limit: number): Promise<{ due: number; dropped: number }> {
  const due = await db.query<{ thread_id: string; id: string }>(
    'find_old_traces',
    `select thread_id, id from lanefold._run
     where finished_at < (select lanefold._now() - $1::float8 * interval '1 day') and trace_dropped_at is null
     order by finished_at limit $2`,
    [days, limit * lookahead],
  );
  let dropped = 0;
  for (let at = 0; at < due.length && dropped < limit; at += limit) {
    dropped += await dropBatch(db, due.slice(at, at + limit));
  }
  return { due: due.length, dropped };
}

async function dropBatch(db: Database, runs: { thread_id: string; id: string }[]): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    'drop_traces',
    `select coalesce(sum(lanefold.drop_trace(d.thread_id, d.run_ids)), 0)::int as dropped
     from (select r.thread_id, array_agg(r.id) as run_ids
           from jsonb_to_recordset($1) as r (thread_id text, id text) group by r.thread_id) d`,
    [JSON.stringify(runs)],
  );
  return row!.dropped;
}
