// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: database.url };
});
afterAll(() => database?.drop());

const webhooks = (...args: string[]) => callCli(['webhooks', ...args], { env });
const told = (text: string) => expect.stringContaining(text) as string;
const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

test('are set, shown, rotated, tested, paused, resumed, redelivered and removed', async () => {
  expect(await webhooks()).toMatchObject({ code: 0, stdout: '', stderr: told('there are no webhooks') });
  const url = ['--url', 'https://1.1.1.1/hooks'];
  const set = await webhooks('set', 'orders', ...url, '--types', 'run.completed', 'run.failed', '--ordered');
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^orders is set\nsecret, shown only now: whsec_\S+\n$/) as string,
  });
  const again = await webhooks('set', 'orders', ...url, '--include-result', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ name: 'orders', types: [], include_result: true, version: 2 });
  expect(again.stdout).not.toContain('whsec_');
  expect((await webhooks('rotate', 'orders', '--keep', '7d')).stdout).toMatch(/^secret, shown only now: whsec_/);
  expect((await webhooks('pause', 'orders')).stdout).toBe('orders is paused\n');
  expect(rowsOf((await webhooks()).stdout).at(-1)).toEqual([
    'orders',
    'default',
    'https://1.1.1.1/hooks',
    'all',
    'paused (manual)',
  ]);
  expect(await webhooks('deliveries', 'orders')).toMatchObject({ code: 0, stderr: told('nothing was to be sent yet') });
  const [, id] = /^(msg_\w+) will be sent/.exec((await webhooks('test', 'orders')).stdout)!;
  const deliveries = rowsOf((await webhooks('deliveries', 'orders', '--status', 'pending')).stdout);
  expect(deliveries.at(-1)).toEqual([id, 'webhook.test', expect.any(String), 'pending', '0']);
  expect((await webhooks('redeliver', 'orders', '--since', '2026-01-01')).stdout).toBe(
    '0 deliveries will be sent again\n',
  );
  expect((await webhooks('resume', 'orders')).stdout).toBe('orders is resumed\n');
  expect((await webhooks('remove', 'orders')).stdout).toBe('orders is removed\n');
  expect(await webhooks('remove', 'orders')).toMatchObject({ code: 1, stderr: told('[webhook_not_found]') });
});

test('that make no sense are refused', async () => {
  for (const [args, problem] of [
    [['--url', 'http://1.1.1.1/'], 'url must begin with https:'],
    [['--url', 'https://10.0.0.1/'], 'is not public'],
    [['--url', 'http://127.0.0.1:3000/'], 'LANEFOLD_PRIVATE_WEBHOOKS=on allows http: and private addresses'],
    [['--url', 'https://127.0.0.1:3000/'], 'LANEFOLD_PRIVATE_WEBHOOKS=on allows http: and private addresses'],
    [['--url', 'https://1.1.1.1/', '--types', 'run.ended'], 'Allowed choices are'],
  ] as const)
    expect(await webhooks('set', 'bad', ...args)).toMatchObject({ code: 2, stderr: told(problem) });
  expect((await webhooks('set', 'bad')).code).toBe(2);
  expect((await webhooks('redeliver', 'bad')).code).not.toBe(0);
  expect((await webhooks('list', '--json')).stdout).not.toContain('bad');
});
