// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { callCli } from './call-cli.ts';

let lanefold: TestLanefold;
let runId: string;
beforeAll(async () => {
  lanefold = await startLanefold({
    agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })],
    redisUrl: null,
  });
  await lanefold.startWorker();
  const asked = await lanefold.runs.enqueue({ agent: 'echo', input: 'Hi', threadId: 'one', createThread: true });
  ({ id: runId } = await lanefold.runs.wait(asked));
});
afterAll(() => lanefold?.close());

const run = (...args: string[]) => callCli(args, { env: { DATABASE_URL: lanefold.database.url } });

test('a case is kept, asked again, reported, and fails a build on a condition', async () => {
  const kept = await run('cases', 'keep', 'one', '--run', runId, '--dataset', 'd', '--contains', 'Hi', '--json');
  expect(JSON.parse(kept.stdout)).toMatchObject({ dataset: 'd', expected: { contains: ['Hi'] } });
  expect((await run('cases', 'datasets')).stdout).toMatch(/^d +default +1 +0/m);
  const done = await run('eval', 'run', '--dataset', 'd', '--json', '--fail-if', 'pass_rate < 0.9');
  expect(JSON.parse(done.stdout)).toMatchObject({ format: 1, variants: [{ variant: 'current', pass_rate: 1 }] });
  expect(done.code).toBe(0);
  const [{ id }] = (JSON.parse((await run('eval', 'list', '--json')).stdout) as { data: [{ id: string }] }).data;
  expect((await run('eval', 'report', id, '--fail-if', 'pass_rate > 0.5')).code).toBe(1);
  expect((await run('eval', 'show', id)).stdout).toContain('contains 1');
  expect(await run('eval', 'remove', id)).toMatchObject({ code: 0, stdout: `${id} is removed\n` });
});
