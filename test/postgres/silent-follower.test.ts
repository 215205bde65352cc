// @module-tag long
import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy, type Proxy } from '../../src/ops/chaos/services/proxy.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const poolSize = 2;

let database: TestDatabase;
let proxy: Proxy;
let lanefold: Lanefold;
const said: string[] = [];
beforeAll(async () => {
  database = await createDatabase();
  const primary = new URL(database.url);
  proxy = await startProxy(() => ({ host: primary.hostname, port: Number(primary.port) }));
  // the same server: what matters is the way to it
  const readUrl = new URL(database.url);
  [readUrl.hostname, readUrl.port] = ['127.0.0.1', String(proxy.port)];
  readUrl.searchParams.set('application_name', 'reads');
  lanefold = await createLanefold({
    databaseUrl: database.url,
    readUrl: readUrl.href,
    redisUrl: null,
    poolSize,
    logger: { debug() {}, info() {}, warn() {}, error: (_, line) => void said.push(line) },
  });
  await lanefold.threads.create({ id: 'only' });
});
afterAll(async () => {
  await proxy?.close();
  await lanefold?.close();
  await database?.drop();
});

const list = async () => (await lanefold.threads.list()).data.map(({ id }) => id);
/** Sessions that the reads have on the follower. */
const sessions = async () => {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'reads'`,
  );
  return rows.map(({ pid }) => pid);
};

test('reads on open connections to a frozen follower come from the primary, however many there are', async () => {
  await Promise.all(Array.from({ length: poolSize }, list));
  const before = await sessions();
  expect(before).toHaveLength(poolSize);
  proxy.silence(false);
  // some wait for an answer, the others for a connection
  expect(await Promise.all(Array.from({ length: 3 * poolSize }, list))).toEqual(Array(3 * poolSize).fill(['only']));
  expect(said).toContainEqual(expect.stringContaining('are read from the primary until the follower answers'));
  expect(await list()).toEqual(['only']);
  proxy.reset();
  await until('reads are on the follower again', async () => {
    expect(await list()).toEqual(['only']);
    return (await sessions()).some((pid) => !before.includes(pid));
  });
});
