import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './cli.ts';

describe('lists, cancel and retry', () => {
  let database: TestDatabase;
  let lanefold: Lanefold;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url, REDIS_URL: '' };
    const agents = [{ name: 'support', model: 'scripted:echo' }];
    lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
  });
  afterAll(async () => {
    await lanefold?.close();
    await database?.drop();
  });

  test('a run is listed, cancelled, and asked again', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'support', input: 'x', threadId: 't', createThread: true });
    const listed = await callCli(['runs', '--status', 'queued'], { env });
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(`queued +support +t +${run.id}\n`)]);
    expect(await callCli(['cancel', 't', run.id, '--reason', 'twice'], { env })).toMatchObject({
      code: 0,
      stdout: 'the run is cancelled\n',
    });
    const again = await callCli(['retry', 't', run.id, '--json'], { env });
    const { id } = JSON.parse(again.stdout) as { id: string };
    const { stdout } = await callCli(['runs', 't', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      data: [
        { id, status: 'queued', retry_of: run.id },
        { id: run.id, status: 'cancelled' },
      ],
      next_after: null,
    });
    const threads = await callCli(['threads', '--agent', 'support'], { env });
    expect(threads.stdout).toMatch(/ t +0 +queued support\n/);
  });

  test('tail says on stderr that no worker is alive', { tags: 'slow' }, async () => {
    const run = await lanefold.runs.enqueue({ agent: 'support', input: 'x' });
    const tail = startCli(['tail', run.threadId, run.id], { env });
    const stderr = await tail.says('stderr', 'no worker is alive');
    expect(stderr).toBe(
      `Run ${run.id} is waiting: no worker is alive to take it from the queue "lf". Start one, for example with \`lanefold worker\`.\n`,
    );
    expect(tail.said().stdout).toBe('');
    await lanefold.runs.cancel(run);
    expect(await tail.ended).toMatchObject({ code: 0 });
  });

  test.each([
    [['runs', '--status', 'lost'], 2, 'usage'],
    [['cancel', 't', 'none'], 1, 'run_not_found'],
    [['retry', 't', 'none'], 1, 'run_not_found'],
  ])('%j exits with %i, %s', async (args, exit, error) => {
    const { code, stderr } = await callCli(args, { env });
    expect([code, stderr]).toEqual([exit, expect.stringContaining(`[${error}]`)]);
  });
});
