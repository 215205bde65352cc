import type { Database } from '../../postgres/pool.ts';
import { call } from '../call.ts';

/** Runs of each kind that a call counts: about a fifth of a second. */
const most = 10_000;
/** How long transactions on the nodes of a distributed database may take. */
const patienceMs = 60_000;

/** Counts runs that have ended; see `count_activity`. Returns whether there is more to count at once. */
export const countActivity = async (db: Database, limit = most): Promise<boolean> =>
  (await call(db.queryLong, 'count_activity', {
    most: limit,
    patienceMs: db.settings.distributed ? patienceMs : 0,
  })) ?? false;
