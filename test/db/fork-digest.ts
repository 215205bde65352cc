import type { Database } from '../../src/database/postgres/pool.ts';
import { logOf, value } from './helpers.ts';

/** Everything of a thread that a fork of it could have changed. */
export const digest = async (db: Database, id: string): Promise<unknown> => [
  await logOf(db, id),
  await value(db, 'select to_jsonb(t) from lanefold.thread t where id = $1', id),
];
