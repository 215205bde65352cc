// @module-tag slow
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { startCli } from './cli.ts';

describe('approve and deny', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
  });
  afterAll(() => database.drop());

  const agents = path.resolve('test/cli/fixtures/payer.ts');

  test.each([
    ['approve', 'approved', 'paid 5'],
    ['deny', 'denied', 'The call was denied: too much'],
  ])(
    '%s: a run shows the pending call, and continues once another terminal has decided',
    async (word, done, shown) => {
      const args = ['run', 'pay', '--agents', agents, '--thread', word];
      const waiting = startCli(args, { env });
      const output = await waiting.says('stderr', '(or deny)\n');
      expect(output).toContain('the run waits for approval of pay({"amount":5})');
      const [, thread, run, call] = / {2}lanefold approve (\S+) (\S+) (\S+) {3}/.exec(output)!;
      const decided = await callCli([word, thread!, run!, call!, '--by', 'ada', '--reason', 'too much'], { env });
      expect(decided).toMatchObject({ code: 0, stdout: `1.0 is ${done}; the run is queued\n` });
      expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'settled\n' });
      const again = await callCli([word, thread!, run!, call!, '--json'], { env });
      expect(JSON.parse(again.stdout)).toMatchObject({ run_id: run, decision: done, by: 'ada', duplicate: true });
      expect((await callCli(['context', word], { env })).stdout).toContain(shown);
    },
    120_000,
  );

  test.each([
    [['approve', 't', 'r', 'first'], 2, 'usage'],
    [['deny', 'nobody', 'r', '1.0'], 1, 'thread_not_found'],
    [['approve', 'approve', 'nobody', '1.0'], 1, 'run_not_found'],
  ])('%j exits with %i, %s', async (args, exit, error) => {
    const { code, stderr } = await callCli(args, { env });
    expect(code).toBe(exit);
    expect(stderr).toMatch(new RegExp(`^lanefold: .+ \\[${error}\\]\nhint: .+\n$`, 'm'));
  });
});
