// @module-tag long
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { detach, replicationSettings, startStandby } from '../../src/ops/chaos/services/postgres.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { until } from '../support/until.ts';

let dir: string;
let primary: EmbeddedPostgres;
let follower: EmbeddedPostgres;
let lanefold: Lanefold;
const said: string[] = [];
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'lanefold-follower-'));
  await chmod(dir, 0o711);
  primary = await startEmbeddedPostgres({ dir: path.join(dir, 'a'), settings: replicationSettings });
  await createLanefold({ databaseUrl: primary.url, redisUrl: null, migrate: true }).then((one) => one.close());
  follower = await startStandby(primary, path.join(dir, 'b'), replicationSettings);
  lanefold = await createLanefold({
    databaseUrl: primary.url,
    readUrl: follower.url,
    redisUrl: null,
    logger: { debug() {}, info() {}, warn() {}, error: (_, line) => void said.push(line) },
    agents: [defineAgent({ name: 'a', model: 'scripted:["Done."]' })],
  });
  await lanefold.startWorker();
});
afterAll(async () => {
  await lanefold?.close();
  await follower?.stop();
  await primary?.stop();
  await rm(dir, { recursive: true, force: true });
});

const listed = async (library: Pick<Lanefold, 'threads' | 'runs'> = lanefold) => {
  const [threads, runs] = await Promise.all([library.threads.list(), library.runs.list()]);
  return [threads.data.map(({ id }) => id), runs.data.map(({ threadId }) => threadId)];
};

const complete = async (threadId: string) => {
  const run = await lanefold.runs.enqueue({ agent: 'a', input: threadId, threadId, createThread: true });
  return lanefold.runs.wait(run);
};

test('lists come from the follower, all that is decided from comes from the primary', async () => {
  await complete('first');
  await until('the follower has it', async () => (await listed()).flat().length === 2);
  await detach(follower);
  expect(await complete('second')).toMatchObject({ status: 'completed', result: 'Done.' });
  const both = [['first'], ['first']];
  expect(await listed()).toEqual(both);
  expect(await listed(lanefold.forTenant('default'))).toEqual(both);
  expect(await lanefold.threads.get('second')).toMatchObject({ id: 'second' });
  expect((await lanefold.contexts.project('second')).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('while the follower is gone, lists come from the primary', async () => {
  await follower.stop();
  expect(await listed()).toEqual([
    ['second', 'first'],
    ['second', 'first'],
  ]);
  expect(said.filter((line) => line.includes('are read from the primary until the follower answers'))).toHaveLength(1);
  expect(await complete('third')).toMatchObject({ status: 'completed' });
  expect((await listed())[0]).toEqual(['third', 'second', 'first']);
});
