import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patient, startHarness, type FaultHarness } from '../faults/harness.ts';

import { until } from '../support/until.ts';
import { sqlOf } from './sql.ts';

describe('a run that ends without a worker', () => {
  let harness: FaultHarness;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    harness = await startHarness();
    sql = await sqlOf(harness);
  });
  afterAll(async () => {
    await sql?.close();
    await harness?.close();
  });

  test('has all that it used counted, also the call before its worker left', async () => {
    await sql.setLimit('left', { kind: 'tokens', scope: { customer: 'left' }, amount: 20_000, calendar: 'month' });
    harness.callServer.respond = (call) =>
      call.kind === 'model' ? { calls: [{ id: 'c0', name: 'look' }] } : new Promise<never>(() => {});
    const worker = await harness.startWorker(patient);
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'go', limitKeys: { customer: 'left' } });
    await until('the tool is called', () => harness.callServer.count('tool') === 1);
    await worker.stop({ graceMs: 0 });
    expect(await harness.runs.get(run)).toMatchObject({ status: 'queued' });
    expect(await harness.runs.cancel(run)).toMatchObject({ status: 'cancelled' });
    await sql.settled();
    const { usage } = await harness.runs.get(run);
    expect(usage!.total_tokens).toBeGreaterThan(0);
    expect(await sql.usage('left')).toMatchObject([{ total: usage!.total_tokens, reserved: 0, waiting: 0 }]);
  });
});
