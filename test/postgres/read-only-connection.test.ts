import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase({ empty: true })));
afterAll(() => database?.drop());

const writes: [string, (db: Database, text: string) => Promise<unknown>][] = [
  ['query', (db, text) => db.query('write', text)],
  ['queryLocking', (db, text) => db.queryLocking('write', text)],
  ['queryLong', (db, text) => db.queryLong('write', text)],
];

test.each(writes)('%s replaces a connection whose server accepts no writes', async (name, write) => {
  const db = openDatabase({ url: database.url, max: 1 });
  onTestFinished(() => db.close());
  const table = name.toLowerCase();
  // as on a connection that leads to a standby, or to a primary that has been demoted
  await db.pool.query('set default_transaction_read_only = on');
  await expect(write(db, `create table ${table} ()`)).rejects.toMatchObject({ code: 'database_unreachable' });
  await write(db, `create table ${table} ()`);
});
