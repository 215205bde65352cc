import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';

/** How many due runs are read beyond `limit`, so that threads held by writers do not block the traces of others. */
const lookahead = 1_000;
/** Runs per statement, which locks their threads. */
const perStatement = 100;

export interface Dropped {
  /** Due runs that were found, at most the number read. */
  due: number;
  /** Runs emptied. */
  dropped: number;
  /** Whether another process was dropping traces, and this one left the rest to it. */
  leftToOther: boolean;
}

/**
 * Empties the traces of the oldest runs that ended more than `days` ago, about `limit` of them. Threads that a writer
 * holds are left for the next time. One process at a time does it: several would find the same runs.
 */
export async function dropTraces(db: Database, days: number, limit: number): Promise<Dropped> {
  const due = await db.queryLong<{ thread_id: string; id: string }>(
    'find_old_traces',
    `select thread_id, id from lanefold._run
     where finished_at < (select lanefold._now() - $1::float8 * interval '1 day') and trace_dropped_at is null
     order by finished_at limit $2`,
    [days, limit + lookahead],
  );
  const done: Dropped = { due: due.length, dropped: 0, leftToOther: false };
  const size = Math.min(limit, perStatement);
  for (let at = 0; at < due.length && done.dropped < limit && !done.leftToOther; at += size) {
    const { mine, dropped } = await dropBatch(db, due.slice(at, at + size));
    done.dropped += dropped;
    done.leftToOther = !mine;
  }
  return done;
}

async function dropBatch(
  db: Database,
  runs: { thread_id: string; id: string }[],
): Promise<{ mine: boolean; dropped: number }> {
  if (db.settings.distributed) return dropEach(db, runs);
  const [row] = await db.queryLong<{ mine: boolean; dropped: number }>(
    'drop_traces',
    `with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended('lanefold retention', 0)) as mine)
     select (select mine from turn), coalesce(sum(lanefold.drop_trace(d.thread_id, d.run_ids)), 0)::int as dropped
     from (select r.thread_id, array_agg(r.id) as run_ids
           from jsonb_to_recordset($1) as r (thread_id text, id text)
           where (select mine from turn) group by r.thread_id) d`,
    [JSON.stringify(runs)],
  );
  return row!;
}

/** Thread by thread, without taking turns: a second process finds the runs emptied and continues with others. */
async function dropEach(
  db: Database,
  runs: { thread_id: string; id: string }[],
): Promise<{ mine: boolean; dropped: number }> {
  const byThread = new Map<string, string[]>();
  for (const { thread_id, id } of runs) byThread.set(thread_id, [...(byThread.get(thread_id) ?? []), id]);
  const threads = [...byThread].map(([threadId, ids]) => ({ threadId, ids }));
  const dropped = await eachThread(db, threads, async ({ threadId, ids }) => [
    await call(db.query, 'drop_trace', { threadId, runIds: ids }),
  ]);
  return { mine: true, dropped: dropped.reduce((sum, count) => sum + count, 0) };
}
