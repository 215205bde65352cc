import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { quick, startBench, type FaultBench } from './harness.ts';

describe.skipIf(noRedis())('a worker that dies between taking a job and claiming its run', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await startBench();
    bench.outside.respond = () => ({ text: 'Done.' });
  });
  afterAll(() => bench?.close());

  test('leaves a job that another worker takes within lock and look, not after minutes', async () => {
    const child = await bench.child({ worker: quick, dieBefore: 'claim_run:1' });
    const run = await bench.runs.enqueue({ agent: 'fault', input: 'go' });
    await child.died();
    expect(await bench.runs.get(run)).toMatchObject({ status: 'queued', startedAt: null });
    await bench.startWorker(quick);
    expect(await bench.runs.wait(run, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed', result: 'Done.' });
    await expectSound(bench, run.threadId);
  });
});
