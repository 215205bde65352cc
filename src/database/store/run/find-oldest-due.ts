import type { Database } from '../../postgres/pool.ts';

/** Older than every run that the sweep may have to find. */
export const anyTime = '-infinity';

/** A run may be stored this much later than the time it bears: the caller's transaction adds the rest of its work. */
const lateMs = 15_000;

/**
 * The time since which all runs that are queued or running now were given to the queue, as `timestamptz`. A sweep that
 * reads from here on reads no index entries of runs that have ended before, which PostgreSQL keeps while a transaction
 * keeps its snapshot.
 */
export async function findOldestDue(db: Database): Promise<string> {
  // the runs of that node would be missing
  if (db.settings.nodes?.nodes.some(({ isDown }) => isDown)) return anyTime;
  const [row] = await db.queryLong<{ since: string }>(
    'find_oldest_due',
    `select (least((select min(enqueued_at) from lanefold._run where active and suspended_until is null), lanefold._now())
       - $1::float8 * interval '1 ms')::text as since`,
    [lateMs],
  );
  return row!.since;
}
