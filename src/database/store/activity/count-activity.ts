import type { Database } from '../../postgres/pool.ts';
import { call } from '../call.ts';

/** Runs of each kind that a call counts: about a fifth of a second. */
const most = 10_000;

/**
 * Counts runs that have ended; see `count_activity`. Returns whether there is more to count at once. A distributed database
 * does not count: a function cannot read the runs of all nodes together with the counts.
 */
export const countActivity = async (db: Database, limit = most): Promise<boolean> =>
  !db.settings.distributed && ((await call(db.queryLong, 'count_activity', { most: limit })) ?? false);
