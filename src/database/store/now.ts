import type { Database } from '../postgres/pool.ts';

/** The clock of the database, which schedules go by. */
export const readNow = async (db: Database): Promise<Date> =>
  (await db.query<{ now: Date }>('now', 'select lanefold._now() as now'))[0]!.now;
