// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLanefold, defineAgent } from 'lanefold';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
const keys = (...args: string[]) => callCli(['keys', ...args], { env: { DATABASE_URL: database.url } });
const create = (agents: string) => keys('create', '--name', 'desk', '--scopes', 'run', '--agents', agents);
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

beforeAll(async () => {
  database = await createDatabase();
  const lanefold = await createLanefold({
    databaseUrl: database.url,
    agents: [defineAgent({ name: 'support', model: 'scripted:echo' })],
  });
  await lanefold.startWorker();
  await lanefold.close();
});
afterAll(() => database?.drop());

test('a key for an agent that no worker has had is created, with a warning', async () => {
  const misspelt = await create('suport,reports');
  expect(misspelt).toMatchObject({ code: 0, stdout: matching(/^lfk_/) });
  expect(misspelt.stderr).toContain('no worker has had an agent suport: did you mean support?\n');
  expect(misspelt.stderr).toContain('no worker has had an agent reports: ');
  expect((await create('support')).stderr).toMatch(/^\S+; the key is shown only once:\n$/);
});

test('help of a command that takes a key says that its argument is the id', async () => {
  for (const command of ['rotate', 'revoke'])
    expect((await keys(command, '--help')).stdout).toMatch(/id of the key, .*not its secret/);
});
