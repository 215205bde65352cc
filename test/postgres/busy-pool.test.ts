import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { createLanefold, type Lanefold } from 'lanefold';
import { openDatabase } from '../../src/postgres/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startOutage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const poolSize = 2;

let database: TestDatabase;
let lanefold: Lanefold;
let holder: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, poolSize });
  holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
});
afterAll(async () => {
  await holder?.end();
  await lanefold?.close();
  await database?.drop();
});

/** Occupies the whole pool with writes to a thread that an open transaction has locked. */
async function occupyPool() {
  const { id } = await lanefold.threads.create();
  await holder.query('begin');
  await holder.query('select from lanefold.thread where id = $1 for update', [id]);
  const entries = [{ kind: 'ai_message' as const, payload: { role: 'user', content: 'hi' } }];
  const writes = Array.from({ length: poolSize }, () => lanefold.threads.append(id, entries).catch(() => {}));
  await until('every connection waits for the lock', async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === poolSize;
  });
  return {
    id,
    async free() {
      await holder.query('rollback');
      await Promise.all(writes);
    },
  };
}

test('a call that gets no connection fails with database_busy, and the API answers 503 with Retry-After', async () => {
  const server = await lanefold.startServer({ port: 0, onError: () => {} });
  onTestFinished(() => server.close());
  const occupied = await occupyPool();
  try {
    await expect(lanefold.threads.get(occupied.id)).rejects.toMatchObject({
      code: 'database_busy',
      status: 503,
      hint: expect.stringContaining('poolSize'),
    });
    const response = await fetch(`${server.url}/v1/threads/${occupied.id}`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'database_busy' });
  } finally {
    await occupied.free();
  }
  expect(await lanefold.threads.get(occupied.id)).toMatchObject({ id: occupied.id });
});

test('however many calls wait, none fails while connections come free', async () => {
  const many = Array.from({ length: 2_000 }, () => lanefold.threads.create());
  expect(await Promise.all(many)).toHaveLength(2_000);
});

test('a database that accepts connections but never answers is unreachable, not busy', async () => {
  const outage = await startOutage(inject('postgresUrl'));
  onTestFinished(() => outage.close());
  const db = openDatabase({ url: outage.url, max: 1, timeoutMs: 300 });
  onTestFinished(() => db.close());
  outage.begin();
  const asked = [db.query('one', 'select 1'), db.query('one', 'select 1')];
  for (const answer of await Promise.allSettled(asked))
    expect(answer).toMatchObject({ reason: { code: 'database_unreachable' } });
});
