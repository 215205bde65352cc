// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startCrashHarness, type CrashHarness } from './crash-harness.ts';

describe('a worker that crashes right after a statement', () => {
  let harness: CrashHarness;
  beforeAll(async () => {
    harness = await startCrashHarness();
  });
  afterAll(() => harness?.close());

  // before the first model call, with an open round, and after the run but not its job has ended
  test.each(['claim_run:1', 'commit_step:1', 'commit_step:5'])(
    '%s: the log equals that of an undisturbed run',
    async (statement) => {
      const run = await harness.crash(harness.script, { dieAfter: statement });
      expect(run.shape).toEqual(harness.undisturbed);
      expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.', iteration: 3 });
      expect(harness.toolExecutions()).toEqual([2, 1, 1]);
    },
  );

  // during the parallel round: after `started` and after an outcome
  test.each([1, 3])(
    'record_tool_call:%i: stored outcomes remain, and a tool with replay: never is not repeated',
    async (nth) => {
      const run = await harness.crash(harness.script, { dieAfter: `record_tool_call:${nth}` });
      expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
      expect(harness.callServer.count('tool:charge')).toBeLessThanOrEqual(1);
      expect(run.ledger).toHaveLength(4);
    },
  );
});
