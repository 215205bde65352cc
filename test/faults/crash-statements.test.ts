import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { startCrashBench, type CrashBench } from './crash-bench.ts';

describe.skipIf(noRedis())('a worker that dies right after a statement', () => {
  let bench: CrashBench;
  beforeAll(async () => {
    bench = await startCrashBench();
  });
  afterAll(() => bench?.close());

  // before the first model call, with an open round, and with the run ended but not its job
  test.each(['claim_run:1', 'commit_step:1', 'commit_step:5'])(
    '%s: the log is as if nothing had happened',
    async (statement) => {
      const run = await bench.crash(bench.script, { dieAfter: statement });
      expect(run.shape).toEqual(bench.undisturbed);
      expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.', iteration: 3 });
      expect(bench.toolVisits()).toEqual([2, 1, 1]);
    },
  );

  // `started` and outcomes of the parallel round
  test.each([1, 3])('record_tool_call:%i: what is stored stays, what must not run again does not', async (nth) => {
    const run = await bench.crash(bench.script, { dieAfter: `record_tool_call:${nth}` });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
    expect(bench.outside.count('tool:charge')).toBeLessThanOrEqual(1);
    expect(run.ledger).toHaveLength(4);
  });
});
