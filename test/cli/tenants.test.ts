// @module-tag slow
import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
let lanefold: Lanefold;
const tenants = (...args: string[]) => callCli(['tenants', ...args], { env: { DATABASE_URL: database.url } });

beforeAll(async () => {
  database = await createDatabase();
  lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
});
afterAll(async () => {
  await lanefold?.close();
  await database?.drop();
});

test('limits and tamper evidence of a tenant are set apart, and listed', async () => {
  const none = expect.stringContaining('no tenant has limits') as string;
  expect(await tenants('list')).toMatchObject({ code: 0, stdout: '', stderr: none });
  const limited = await tenants('limit', 'acme', '--runs', '20', '--requests-per-minute', '60', '--json');
  const limits = { runs: 20, requests_per_minute: 60 };
  expect(JSON.parse(limited.stdout)).toEqual({ tenant: 'acme', limits, chained: false });
  expect(await tenants('chain', 'acme')).toMatchObject({ code: 0, stdout: 'acme: new threads have a chain\n' });
  expect(await tenants('list')).toMatchObject({ stdout: 'acme  runs 20  requestsPerMinute 60  chained\n' });
  const listed = await tenants('list', '--json');
  expect(JSON.parse(listed.stdout)).toEqual({ data: [{ tenant: 'acme', limits, chained: true }] });
  expect(await tenants('chain', 'acme', '--off')).toMatchObject({ stdout: 'acme: new threads have no chain\n' });
  expect(await tenants('limit', 'acme')).toMatchObject({ stdout: 'acme  no limits\n' });
  expect(await tenants('limit', 'acme', '--runs', '0')).toMatchObject({ code: 2 });
});

test.each([
  [{ limits: { runs: 0 } }, 'limits.runs must be a whole number of at least 1.'],
  [{ limits: { run: 5 } }, 'limits does not take "run".'],
  [{ chain: true }, 'tenants.configure does not take "chain".'],
  [{ chained: 'yes' }, 'chained must be true or false.'],
])('settings such as %j are refused', async (settings, message) => {
  await expect(lanefold.tenants.configure('bolt', settings as object)).rejects.toMatchObject({
    code: 'invalid_input',
    message,
  });
  expect(await lanefold.tenants.limits('bolt')).toBeUndefined();
});
