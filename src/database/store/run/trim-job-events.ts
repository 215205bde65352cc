import type { Database } from '../../postgres/pool.ts';

/** The queues of a fleet in this database whose events BullMQ itself keeps for ever: see `keepsEvents`. */
export async function queuesWithEvents(db: Database, prefix: string): Promise<string[]> {
  const rows = await db.query<{ queue: string }>(
    'queues_with_events',
    `select queue from bullmq.meta where starts_with(queue, $1) and field = 'opts.maxLenEvents' and value = '0'`,
    [`${prefix}-`],
  );
  return rows.map(({ queue }) => queue);
}

/**
 * Deletes the events of a queue that are older than its last `keep` and newer than event `above`. Returns the number of
 * the last event that is too old; undefined if another process is deleting them.
 */
export async function trimJobEvents(
  db: Database,
  queue: string,
  { above, keep }: { above: number; keep: number },
): Promise<number | undefined> {
  const [row] = await db.queryLong<{ mine: boolean; cut: number }>(
    'trim_job_events',
    `with cut as materialized (
       select pg_try_advisory_xact_lock(hashtextextended('lanefold events ' || $1, 0)) as mine,
         (select coalesce(max(id), 0) from bullmq.event where queue = $1) - $3::bigint as id
     ), gone as (
       delete from bullmq.event e using cut where e.queue = $1 and e.id > $2::bigint and e.id <= cut.id and cut.mine
     )
     select mine, id::float8 as cut from cut`,
    [queue, above, keep],
  );
  return row!.mine ? row!.cut : undefined;
}
