// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
const agents = (...args: string[]) => callCli(['agents', ...args], { env: { DATABASE_URL: database.url } });
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;
const ids = { a: `v_${'a'.repeat(24)}`, b: `v_${'b'.repeat(24)}` };

beforeAll(async () => {
  database = await createDatabase();
  for (const label of ['a', 'b'] as const) {
    const version = { agent: 'support', id: ids[label], label, definition: { instructions: `You are ${label}.` } };
    await database.pool.query('select lanefold.record_versions($1)', [JSON.stringify([version])]);
  }
  await database.pool.query("select lanefold.create_thread('support-42', '{}')");
});
afterAll(() => database?.drop());

test('a rollout is set by shares, listed and removed', async () => {
  expect(await agents('rollouts')).toMatchObject({ code: 0, stdout: '', stderr: matching(/there are no rollouts/) });
  const set = await agents('rollout', 'support', 'a=90', 'c=10', '--key', 'customer');
  expect(set).toMatchObject({ code: 0, stdout: 'support: a=90 c=10\n', stderr: matching(/no worker has had c:/) });
  expect((await agents('rollouts')).stdout).toMatch(/^support +a=90 c=10 +customer +\S+Z +cli:/m);
  const { data } = JSON.parse((await agents('rollouts', '--json')).stdout) as { data: object[] };
  expect(data).toMatchObject([{ agent: 'support', shares: { a: 90, c: 10 }, key: 'customer', unknown: ['c'] }]);
  expect(await agents('rollout', 'support', 'a')).toMatchObject({
    code: 2,
    stderr: matching(/Write it as label=share/),
  });
  expect(await agents('rollout', 'support')).toMatchObject({
    code: 2,
    stderr: matching(/missing required argument 'label=/),
  });
  const removed = await agents('rollback', 'support', '--json');
  expect(JSON.parse(removed.stdout)).toEqual({ agent: 'support', removed: true });
  expect(await agents('rollback', 'support')).toMatchObject({ code: 1, stderr: matching(/has no rollout/) });
});

test('a thread is moved to a version, or back to the choice of the rollout', async () => {
  await agents('rollout', 'support', 'a=1');
  const moved = await agents('move', 'support-42', 'support', 'b');
  expect(moved).toMatchObject({ code: 0, stdout: 'support-42 has b from now on\n' });
  const back = await agents('move', 'support-42', 'support');
  expect(back).toMatchObject({ stdout: 'support-42 has the version that the rollout chooses from now on\n' });
  const json = await agents('move', 'support-42', 'support', '--json');
  expect(JSON.parse(json.stdout)).toEqual({ thread_id: 'support-42', agent: 'support', version: null });
  expect(await agents('move', 'support-42', 'support', 'zzz')).toMatchObject({
    code: 1,
    stderr: matching(/has had version/),
  });
});

test('versions are listed and compared', async () => {
  const listed = await agents('versions', 'support', '--hours', '24');
  expect(listed.stdout).toMatch(new RegExp(`^${ids.b} +b +\\S+Z +\\S+Z +0 +0 +`, 'm'));
  expect(await agents('versions', 'support', '--hours', '0')).toMatchObject({ code: 2 });
  expect(await agents('versions', 'nobody')).toMatchObject({
    stderr: matching(/no worker has started with an agent nobody/),
  });
  const changed = 'instructions\n  - "You are a."\n  + "You are b."\n';
  expect(await agents('diff', 'support', ids.a, ids.b)).toMatchObject({ code: 0, stdout: changed });
  const { data } = JSON.parse((await agents('diff', 'support', ids.a, ids.b, '--json')).stdout) as { data: object[] };
  expect(data).toEqual([{ path: 'instructions', from: 'You are a.', to: 'You are b.' }]);
  expect(await agents('diff', 'support', ids.a, ids.a)).toMatchObject({ stdout: '', stderr: 'they are the same\n' });
});
