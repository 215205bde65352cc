// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ empty: true });
});
afterAll(() => database.drop());

test('migrate sets up an empty database and reports it, then has nothing to do', async () => {
  const env = { DATABASE_URL: database.url };
  const before = await callCli(['thread', 't'], { env });
  expect([before.code, before.stderr]).toEqual([
    1,
    expect.stringContaining('[database_outdated]\nhint: Run `lanefold migrate`'),
  ]);

  const first = await callCli(['migrate', '--json'], { env });
  const result = JSON.parse(first.stdout) as { from: number; to: number; status: string };
  expect([first.code, result]).toEqual([0, { from: 0, to: expect.any(Number) as number, status: 'migrated' }]);
  const { rows } = await database.pool.query(
    `select lanefold.schema_version() as version, to_regclass('bullmq.job')::text as queue`,
  );
  expect(rows).toEqual([{ version: result.to, queue: 'bullmq.job' }]);

  const second = await callCli(['migrate'], { env });
  expect([second.code, second.stdout]).toEqual([0, `the database is already at schema ${result.to}; nothing to do\n`]);
  expect((await callCli(['thread', 't'], { env })).stderr).toContain('[thread_not_found]');
});
