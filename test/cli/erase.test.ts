import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

describe('erase', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
    for (const id of ['a', 'b', 'c'])
      await database.pool.query('select lanefold.create_thread($1, $2)', [id, { tenant_id: 'acme' }]);
  });
  afterAll(() => database.drop());

  test('erases a thread, or all of a tenant, and reports what was removed', async () => {
    const one = await callCli(['erase', 'a', '--yes'], { env });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/^erased 1 threads, .*\nleft:\n- .*backups/s) });
    const rest = await callCli(['erase', '--tenant', 'acme', '--yes', '--json'], { env });
    expect(JSON.parse(rest.stdout)).toMatchObject({
      tenant_id: 'acme',
      busy: [],
      removed: { threads: 2, tool_calls: 0 },
    });
  });

  test.each([
    [['erase', 'x'], 2, 'usage'],
    [['erase', '--yes'], 2, 'usage'],
    [['erase', 'x', '--tenant', 'acme', '--yes'], 2, 'usage'],
    [['erase', 'never-made', '--yes'], 1, 'thread_not_found'],
  ])('%j exits with %i, %s', async (args, exit, error) => {
    const { code, stderr } = await callCli(args, { env });
    expect([code, stderr]).toEqual([exit, expect.stringContaining(`[${error}]`)]);
  });
});
