// @module-tag slow
import { createLanefold, defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
const run = (...args: string[]) => callCli(args, { env: { DATABASE_URL: database.url } });

beforeAll(async () => {
  database = await createDatabase();
  const agents = [defineAgent({ name: 'desk', model: 'scripted:echo' })];
  const lanefold = await createLanefold({ databaseUrl: database.url, agents });
  await lanefold.startWorker();
  await lanefold.runs.wait(
    await lanefold.runs.enqueue({ agent: 'desk', input: 'one', threadId: 't', createThread: true }),
  );
  await lanefold.close();
});
afterAll(() => database?.drop());

test('branch makes a lane, with a run if something is asked, and branches lists the lanes', async () => {
  const alone = await run('branch', 't', '--after', '-1', '--no-show', '--name', 'mine');
  expect(alone).toMatchObject({ code: 0, stdout: 'mine begins after entry -1 of default\n' });
  const again = await run('branch', 't', '--after', '0', '--again', '--key', 'k', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    op_id: 'k',
    context_ref: 'default@2',
    parent: { context_ref: 'default', after_seq: 0 },
    run: { status: 'queued' },
  });
  expect((await run('branches', 't')).stdout).toMatch(/default@2 +default after 0 +\d+ +shown\n/);
  expect(JSON.parse((await run('branches', 't', '--json')).stdout)).toMatchObject({ data: [{}, {}, {}] });
});

test('says what cannot be asked', async () => {
  expect(await run('branch', 't', '--after', '0', '--again', '--input', 'x')).toMatchObject({ code: 2 });
  expect(await run('branch', 't', '--after', '77')).toMatchObject({ code: 1 });
});
