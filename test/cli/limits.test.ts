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

const limits = (...args: string[]) => callCli(['limits', ...args], { env });

test('are set, shown as a table and as JSON, and removed', async () => {
  expect(await limits()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('there are no limits') });
  const slots = ['--kind', 'concurrency', '--amount', '5', '--scope', 'customer=*', '--amount-for', 'acme=20'];
  expect(await limits('set', 'slots', ...slots)).toMatchObject({ code: 0, stdout: 'slots is set\n' });
  const budget = ['--kind', 'money', '--amount', '0.25', '--calendar', 'month', '--time-zone', 'Europe/Berlin'];
  const set = await limits('set', 'budget', ...budget, '--tenant', 'acme', '--on-exhausted', 'end', '--json');
  expect(JSON.parse(set.stdout)).toMatchObject({ name: 'budget', tenant: 'acme', amount: 0.25, on_exhausted: 'end' });
  const tokens = [
    '--kind',
    'tokens',
    '--tokens',
    'output',
    '--amount',
    '100',
    '--per',
    '90s',
    '--share-by',
    'customer',
  ];
  const scope = [
    '--scope',
    'model=openai:a=b',
    '--scope',
    'agent=*',
    '--share',
    'acme=3',
    '--share',
    'bolt=0.5',
    '--reserve-for',
    'acme=1',
  ];
  const fair = JSON.parse((await limits('set', 'fair', ...tokens, ...scope, '--json')).stdout) as Record<
    string,
    unknown
  >;
  expect(fair).toMatchObject({
    scope: { agent: '*', model: 'openai:a=b' },
    per: 90_000,
    share_by: 'customer',
    shares: { acme: 3, bolt: 0.5 },
    reserve: { acme: 1 },
    updated_by: expect.stringMatching(/^cli:/),
  });
  await database.pool.query('select lanefold.use_limits($1)', [
    JSON.stringify([{ version: fair['version'], thread_id: 't', run_id: 'r', take: [['* slots acme', 1]] }]),
  ]);

  const { code, stdout } = await limits();
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
  expect([code, rows]).toEqual([
    0,
    [
      ['name', 'tenant', 'kind', 'scope', 'key', 'used', 'reserved', 'waiting'],
      expect.any(Array),
      ['fair', 'output tokens per 90 s', 'agent=* model=openai:a=b', '0 of 100', '0', '0'],
      ['slots', 'runs at work', 'customer=*', 'acme', '1 of 20', '1', '0'],
      ['budget', 'acme', 'US dollars per calendar month (Europe/Berlin)', 'all runs', '0 of 0.25', '0', '0'],
    ],
  ]);
  const { data } = JSON.parse((await limits('--json', '--name', 'slots')).stdout) as { data: object[] };
  expect(data).toMatchObject([
    {
      name: 'slots',
      tenant: null,
      amounts: { acme: 20 },
      usage: [{ key: 'acme', used: 1, reserved: 1, resets_at: null }],
    },
  ]);

  await database.pool.query(
    `insert into lanefold._run (thread_id, id, request_hash, agent, strategy, model, context_ref, status, active, worker_id, created_at, started_at)
     values ('t', 'r', '', 'support', 'react', 'm', 'default', 'running', true, 'w_1', '2026-01-02Z', '2026-01-03Z')`,
  );
  const holders = await limits('holders', 'slots');
  expect(holders.stdout.split('\n')[2]!.trim().split(/ {2,}/)).toEqual([
    'slots',
    'acme',
    '1',
    'r',
    't',
    'support',
    'running',
    'w_1',
    '2026-01-03T00:00:00.000Z',
  ]);
  expect(JSON.parse((await limits('holders', '--key', 'acme', '--json')).stdout)).toMatchObject({
    data: [{ name: 'slots', thread_id: 't', run_id: 'r', worker_id: 'w_1', amount: 1 }],
    next_after: null,
  });
  expect(await limits('holders', '--key', 'bolt')).toMatchObject({ code: 0, stdout: '' });
  await database.pool.query('select lanefold.use_limits($1)', [
    JSON.stringify([{ version: fair['version'], thread_id: 't2', run_id: 'r2', take: [['* slots bolt', 1]] }]),
  ]);
  const first = await limits('list', '--name', 'slots', '--keys', '1');
  const after = /--after '([^']+)'/.exec(first.stderr)![1]!;
  expect((await limits('list', '--after', after)).stdout).toMatch(/slots .* bolt /);
  expect(JSON.parse((await limits('--json', '--name', 'slots', '--keys', '1')).stdout)).toMatchObject({
    data: [{ usage: [{ key: 'acme' }], next_after: after }],
  });

  expect(await limits('remove', 'slots')).toMatchObject({ code: 0, stdout: 'slots is removed\n' });
  expect(await limits('remove', 'slots')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[limit_not_found]'),
  });
  expect(JSON.parse((await limits('remove', 'budget', '--tenant', 'acme', '--json')).stdout)).toEqual({
    name: 'budget',
    removed: true,
  });
});

test.each([
  [['--kind', 'cats', '--amount', '1'], 'Allowed choices are concurrency'],
  [['--amount', '1'], "required option '--kind <kind>' not specified"],
  [['--kind', 'runs', '--amount', 'many'], 'must be a number'],
  [['--kind', 'runs', '--amount', '1', '--per', 'fortnight'], 'Write it as a number and a unit'],
  [['--kind', 'runs', '--amount', '1', '--per', 'minute', '--scope', 'customer'], 'Write it as name=value'],
  [['--kind', 'runs', '--amount', '1'], 'per is missing'],
  [['--kind', 'runs', '--amount', '1.5', '--per', 'minute'], 'amount must be a whole number'],
])('that make no sense are refused: %j', async (args, said) => {
  const result = await limits('set', 'wrong', ...args);
  expect([result.code, result.stdout]).toEqual([2, '']);
  expect(result.stderr).toContain(said);
});

test('have help with examples', async () => {
  expect((await limits('--help')).stdout).toMatch(/^ {2}(list|set|remove)\b/m);
  const { code, stdout } = await limits('set', '--help');
  expect(code).toBe(0);
  expect(stdout).toContain('$ lanefold limits set slots --kind concurrency');
});
