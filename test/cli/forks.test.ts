// @module-tag slow
import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
let lanefold: Lanefold;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: database.url, REDIS_URL: '' };
  lanefold = await createLanefold({
    databaseUrl: database.url,
    redisUrl: null,
    largeContentBytes: 4_096,
    agents: [{ name: 'a', model: 'scripted:echo' }],
  });
});
afterAll(async () => {
  await lanefold?.close();
  await database?.drop();
});

test('fork, diff and rerun', async () => {
  const run = await lanefold.runs.enqueue({ agent: 'a', input: 'first', threadId: 't', createThread: true });
  const worker = await lanefold.startWorker();
  await lanefold.runs.wait(run);
  await worker.stop();
  expect(await callCli(['fork', 't', '--at', '0', '--id', 'u'], { env })).toMatchObject({
    code: 0,
    stdout: 'u: 1 entries\n',
  });
  const { stdout } = await callCli(['diff', 't', 'u'], { env });
  expect(stdout).toBe('  user  first\n- assistant  first\n');
  const again = await callCli(['rerun', 't', run.id, '--id', 'v', '--prompt', 'Be brief.', '--json'], { env });
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(again.stdout)).toMatchObject({ thread_id: 'v', status: 'queued' });
  expect((await lanefold.contexts.project('v')).map((row) => row.content)).toEqual(['Be brief.']);
  const beyond = await callCli(['fork', 't', '--at', '99'], { env });
  expect([beyond.code, beyond.stderr]).toEqual([2, expect.stringContaining('[invalid_input]')]);
});

test('content shows what a message leaves out', async () => {
  const text = `begin ${'x'.repeat(5_000)} end`;
  await lanefold.threads.create({ id: 'large' });
  await lanefold.threads.append('large', [{ message: { role: 'user', content: text } }]);
  const [entry] = await lanefold.threads.entries('large');
  const [{ id }] = entry!.refs['contents'] as [{ id: string }];
  expect(await callCli(['content', 'large', id], { env })).toMatchObject({ code: 0, stdout: `${text}\n` });
  const part = await callCli(['content', 'large', id, '--length', '5'], { env });
  expect([part.stdout, part.stderr]).toEqual(['begin\n', 'more: --offset 5 (of 5010 characters)\n']);
  const none = await callCli(['content', 'large', 'c_none'], { env });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('[content_not_found]')]);
});
