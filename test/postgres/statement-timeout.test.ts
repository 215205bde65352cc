import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type DatabaseOptions } from '../../src/database/postgres/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database.drop());

async function timeoutOf(options: Partial<DatabaseOptions> = {}, how: 'query' | 'queryLong' = 'query') {
  const db = openDatabase({ url: database.url, max: 1, ...options });
  try {
    const [row] = await db[how]<{ value: string }>('', "select current_setting('statement_timeout') as value");
    return row!.value;
  } finally {
    await db.close();
  }
}

test('PostgreSQL cancels a statement that its caller no longer waits for', async () => {
  const db = openDatabase({ url: database.url, max: 2, timeoutMs: 300, applicationName: 'impatient' });
  try {
    await expect(db.query('', 'select pg_sleep(600)')).rejects.toMatchObject({ name: 'LanefoldError' });
    await until('the server has stopped as well', async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where application_name = 'impatient' and state = 'active'",
      );
      return rows.length === 0;
    });
  } finally {
    await db.close();
  }
});

test('a statement may take 30 s, one over many threads longer, and the URL may say otherwise', async () => {
  expect(await timeoutOf()).toBe('30s');
  expect(await timeoutOf({}, 'queryLong')).toBe('119s');
  expect(await timeoutOf({ url: `${database.url}?statement_timeout=5000` })).toBe('5s');
  expect(await timeoutOf({ url: `${database.url}?options=${encodeURIComponent('-c statement_timeout=7000')}` })).toBe(
    '7s',
  );
});

test('a statement that statement_timeout cancels is database_timeout', async () => {
  const db = openDatabase({ url: `${database.url}?statement_timeout=50`, max: 1 });
  try {
    await expect(db.query('', 'select pg_sleep(60)')).rejects.toMatchObject({
      code: 'database_timeout',
      hint: expect.stringContaining('statement_timeout'),
    });
  } finally {
    await db.close();
  }
});

test('a long statement may take longer than its connection allows, alone and for a tenant, and starts no parallel workers', async () => {
  const db = openDatabase({ url: `${database.url}?statement_timeout=100`, max: 1 });
  const text = "select current_setting('max_parallel_workers_per_gather') as workers from pg_sleep(0.3)";
  const slow = (name: string) => db.queryLong(name, text);
  try {
    expect(await slow('')).toEqual([{ workers: '0' }]);
    // as a prepared statement, again too
    for (const _ of [1, 2]) expect(await slow('slow')).toEqual([{ workers: '0' }]);
    expect(await db.forTenant({ tenant: 'acme' }).queryLong('', text)).toEqual([{ workers: '0' }]);
  } finally {
    await db.close();
  }
});

test('a long statement leaves its connection as it was, also if it fails', async () => {
  const db = openDatabase({ url: database.url, max: 1 });
  const workers = () => db.query('', "select current_setting('max_parallel_workers_per_gather') as workers");
  try {
    const before = await workers();
    expect(await db.queryLong('', 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await workers()).toEqual(before);
    await expect(db.queryLong('', 'select 1 / 0')).rejects.toMatchObject({ code: 'database_error' });
    expect(await db.query('', "select current_setting('statement_timeout') as value")).toEqual([{ value: '30s' }]);
  } finally {
    await db.close();
  }
});
