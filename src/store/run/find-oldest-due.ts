import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/search.ts';

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
  const rows = await search<{ since: string }>(db, 'queryLong', {
    name: 'find_oldest_due',
    text: `select (least((select min(enqueued_at) from lanefold._run where active and suspended_until is null), lanefold._now())
       - $1::float8 * interval '1 ms')::text as since`,
    values: [lateMs],
  });
  // the runs of a node that is down are not in the answer
  return rows.length === 1 && !db.settings.nodes?.nodes.some(({ isDown }) => isDown) ? rows[0]!.since : anyTime;
}
