// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLanefold, defineAgent } from 'lanefold';
import { createProgram } from '../../src/ops/cli/main.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
const run = (...args: string[]) => callCli(args, { env: { DATABASE_URL: database.url } });

beforeAll(async () => {
  database = await createDatabase();
  const agents = ['support', 'billing'].map((name) => defineAgent({ name, model: 'scripted:echo' }));
  const lanefold = await createLanefold({ databaseUrl: database.url, agents });
  await lanefold.startWorker();
  await lanefold.close();
});
afterAll(() => database?.drop());

const listing = createProgram()
  .commands.filter(({ commands }) => commands.some((command) => command.name() === 'list'))
  .map((command) => command.name());

test('the nouns that can be listed', () => {
  const nouns = [
    'agents',
    'alarms',
    'cases',
    'circuits',
    'eval',
    'feedback',
    'keys',
    'limits',
    'monitors',
    'runs',
    'schedules',
    'tenants',
    'threads',
  ];
  expect([...listing].sort()).toEqual([...nouns, 'waits', 'webhooks', 'workers']);
});

test.each(listing)('%s alone does what its list does', async (noun) => {
  const alone = await run(noun);
  expect(alone.code).toBe(0);
  expect(await run(noun, 'list')).toEqual(alone);
});

test('agents lists those of the workers', async () => {
  expect((await run('agents')).stdout).toMatch(/^agent +live workers\n-.*\nbilling +0\nsupport +0\n$/);
  expect(JSON.parse((await run('agents', 'list', '--json')).stdout)).toEqual({
    data: [
      { agent: 'billing', alive_workers: 0 },
      { agent: 'support', alive_workers: 0 },
    ],
  });
});
