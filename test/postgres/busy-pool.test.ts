// @module-tag slow
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { createLanefold, type Lanefold } from 'lanefold';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { cases } from '../support/cases.ts';
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

/** Occupies the whole pool with reads of a table that an open transaction has locked. */
async function occupyPool() {
  const { id } = await lanefold.threads.create();
  await holder.query('begin');
  await holder.query('lock table lanefold.thread');
  const reads = Array.from({ length: poolSize }, () => lanefold.threads.get(id).catch(() => {}));
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
      await Promise.all(reads);
    },
  };
}

test('a call that gets no connection fails with database_busy, and the API answers 503 with Retry-After', async () => {
  const server = await lanefold.startServer({ port: 0, onError: () => {} });
  onTestFinished(() => server.close());
  const occupied = await occupyPool();
  try {
    // both wait for the same seconds
    const refused = expect(lanefold.threads.get(occupied.id)).rejects.toMatchObject({
      code: 'database_busy',
      status: 503,
      hint: expect.stringContaining('poolSize'),
    });
    const response = await fetch(`${server.url}/v1/threads/${occupied.id}`);
    await refused;
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'database_busy' });
  } finally {
    await occupied.free();
  }
  expect(await lanefold.threads.get(occupied.id)).toMatchObject({ id: occupied.id });
});

test('a thread that somebody keeps locked is refused by name, and holds up no other thread', async () => {
  const [locked, other] = await Promise.all([lanefold.threads.create(), lanefold.threads.create()]);
  const entries = [{ kind: 'ai_message' as const, payload: { role: 'user', content: 'hi' } }];
  await holder.query('begin');
  await holder.query('select from lanefold.thread where id = $1 for update', [locked.id]);
  const refused = lanefold.threads.append(locked.id, entries);
  const callers = Promise.allSettled(Array.from({ length: 12 }, () => lanefold.threads.append(locked.id, entries)));
  let first = 'nobody';
  void refused.catch(() => {}).finally(() => (first = first === 'nobody' ? 'the locked thread' : first));
  for (let i = 0; i < 20; i++) {
    expect(await lanefold.threads.append(other.id, entries)).toMatchObject({ firstSeq: i });
    expect(await lanefold.threads.get(other.id)).toMatchObject({ id: other.id });
  }
  first = first === 'nobody' ? 'the other thread' : first;
  expect(first).toBe('the other thread');
  await expect(refused).rejects.toMatchObject({
    code: 'thread_locked',
    status: 503,
    message: expect.stringContaining(locked.id),
  });
  for (const end of await callers) expect(['thread_locked', 'database_busy']).toContain(codeOf(end));
  await holder.query('rollback');
  expect(await lanefold.threads.append(locked.id, entries)).toMatchObject({ duplicate: false });
});

const codeOf = (end: PromiseSettledResult<unknown>): unknown =>
  end.status === 'rejected' ? (end.reason as { code?: unknown }).code : end.status;

test('however many calls wait, none fails while connections come free', async () => {
  const count = cases(200);
  const many = Array.from({ length: count }, () => lanefold.threads.create());
  expect(await Promise.all(many)).toHaveLength(count);
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
