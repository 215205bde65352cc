// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { quick, startHarness, type FaultHarness } from './harness.ts';

describe.skipIf(noRedis())('a worker that crashes between taking a job and claiming its run', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = () => ({ text: 'Done.' });
  });
  afterAll(() => harness?.close());

  test('leaves a job that another worker takes within seconds', async () => {
    const child = await harness.spawnWorker({ worker: quick, dieBefore: 'claim_run:1' });
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go' });
    await child.waitForExit();
    expect(await harness.runs.get(run)).toMatchObject({ status: 'queued', startedAt: null });
    await harness.startWorker(quick);
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    await expectSound(harness, run.threadId);
  });
});
