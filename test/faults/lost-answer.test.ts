// @module-tag slow
import { createLanefold, defineAgent, defineTool, type EnqueueOptions, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startLossyProxy, type LossyProxy } from './fixtures/lossy-proxy.ts';
import { patient } from './harness.ts';
import { shapeOf } from './log-shape.ts';

let executions = 0;
let modelCalls = 0;
const work = (name: string, replay: 'safe' | 'never') =>
  defineTool({ name, replay, input: z.object({}), execute: () => `${name} ${(executions += 1) > 0}` });

const asking = defineTool({ name: 'charge', input: z.object({}), needsApproval: true, execute: () => 'charged' });
/** Final status reported to the worker, by run id. */
const ends = new Map<string, string>();

/** A round of two tools, then an answer; or a permanent failure. */
const model = fakeModel((call) => {
  modelCalls += 1;
  if (JSON.stringify(call.prompt).includes('break')) return new Error('permanent failure');
  const calls = ['look', 'charge'].map((name, i) => ({ id: `c${i}`, name }));
  return call.prompt.some((message) => message.role === 'tool') ? { text: 'Done.' } : { calls };
});
const options = {
  agents: [
    defineAgent({ name: 'a', model: 'fake', tools: [work('look', 'safe'), work('charge', 'never')] }),
    defineAgent({ name: 'careful', model: 'fake', tools: [work('look', 'safe'), asking] }),
  ],
  models: { fake: model },
};

describe('a lost response to', () => {
  let harness: TestLanefold;
  let proxy: LossyProxy;
  /** Connects through the proxy; only its queue connects directly. */
  let proxied: Lanefold;
  let undisturbed: unknown[];
  let undisturbedEvents: string[];
  const request: EnqueueOptions = { agent: 'a', input: 'go' };
  const kinds = async (threadId: string) => (await eventsOf(harness, threadId)).map((event) => event.kind);

  beforeAll(async () => {
    harness = await startLanefold(options);
    proxy = await startLossyProxy(harness.database.url);
    proxied = await createLanefold({ ...harness.options, databaseUrl: proxy.url, directUrl: harness.database.url });
    await proxied.startWorker({ ...patient, onRunEnd: ({ runId, status }) => ends.set(runId, status) });
    const control = await harness.runs.enqueue(request);
    await harness.runs.wait(control);
    undisturbed = await shapeOf(harness, control.threadId);
    undisturbedEvents = await kinds(control.threadId);
  });
  afterAll(async () => {
    await proxied?.close();
    await proxy?.close();
    await harness?.close();
  });
  beforeEach(() => void (executions = modelCalls = 0));

  test.each([
    ['commit_step', 1],
    ['commit_step', 2],
    ['commit_step', 3],
    ['record_tool_call', 1],
    ['record_tool_call', 2],
  ])('%s %i: its rows are written once and the run continues', async (statement, nth) => {
    const before = proxy.dropped;
    proxy.dropResponse(statement, nth);
    const run = await harness.runs.enqueue(request);
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.', step: 3 });
    expect(proxy.dropped).toBe(before + 1);
    expect(await shapeOf(harness, run.threadId)).toEqual(undisturbed);
    expect(await kinds(run.threadId)).toEqual(undisturbedEvents);
    expect([modelCalls, executions]).toEqual([2, 2]);
    expect((await ledgerOf(harness, run.threadId)).map((row) => row.status)).toEqual(['ok', 'ok']);
    await expectSound(harness, run.threadId);
  });

  test('finish_run: the run ends once', async () => {
    const before = proxy.dropped;
    proxy.dropResponse('finish_run');
    const run = await harness.runs.enqueue({ ...request, input: 'break' });
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'failed', error: { message: 'permanent failure' } });
    expect(proxy.dropped).toBe(before + 1);
    expect(modelCalls).toBe(1);
    await expectSound(harness, run.threadId);
  });

  test('suspend_run of a run that is being cancelled: the worker also reports it as cancelled', async () => {
    await harness.database.pool.query(`
      create function cancel_suspended() returns trigger language plpgsql as
        'begin perform lanefold.cancel_run(new.thread_id, new.id); return null; end'`);
    await harness.database.pool.query(`
      create constraint trigger cancel_suspended after update on lanefold._run deferrable initially deferred
        for each row when (new.status = 'suspended') execute function cancel_suspended()`);
    const before = proxy.dropped;
    proxy.dropResponse('suspend_run');
    const run = await harness.runs.enqueue({ ...request, agent: 'careful' });
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    expect(await until('the worker reports the end', () => ends.get(run.id))).toBe('cancelled');
    expect(proxy.dropped).toBe(before + 1);
    await expectSound(harness, run.threadId);
    await harness.database.pool.query('drop trigger cancel_suspended on lanefold._run');
  });

  test('claim_run: the worker claims again, under the next lease', async () => {
    const before = proxy.dropped;
    proxy.dropResponse('claim_run');
    const run = await harness.runs.enqueue(request);
    await until('the claim is lost', () => proxy.dropped > before);
    await harness.database.pool.query('update lanefold._run set lease_until = now() where thread_id = $1', [
      run.threadId,
    ]);
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    expect(proxy.dropped).toBe(before + 1);
    expect(await shapeOf(harness, run.threadId)).toEqual(undisturbed);
    expect([modelCalls, executions]).toEqual([2, 2]);
    await expectSound(harness, run.threadId);
  });

  test('enqueue_run: the caller does not notice, and the run is accepted once', async () => {
    const before = proxy.dropped;
    proxy.dropResponse('enqueue_run');
    const own = { ...request, threadId: 'asked-twice', createThread: true, requestId: 'once' };
    const run = await proxied.runs.enqueue(own);
    expect(proxy.dropped).toBe(before + 1);
    expect(run.duplicate).toBe(false);
    expect(await proxied.runs.enqueue(own)).toMatchObject({ id: run.id, duplicate: true });
    expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await shapeOf(harness, run.threadId)).toEqual(undisturbed);
    await expectSound(harness, run.threadId);
  });

  test('a batch: each of its calls is answered as if nothing had happened', async () => {
    const before = proxy.dropped;
    proxy.dropResponse('enqueue_run', 10);
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, i) => proxied.runs.enqueue({ ...request, requestId: `batched-${i}` })),
    );
    expect(proxy.dropped).toBe(before + 1);
    expect(accepted.map((run) => run.duplicate)).toEqual(accepted.map(() => false));
    expect(new Set(accepted.map((run) => run.id)).size).toBe(20);
    for (const run of accepted) {
      expect(await harness.runs.wait(run)).toMatchObject({ status: 'completed' });
      expect((await harness.runs.list({ threadId: run.threadId })).data).toHaveLength(1);
      expect(await shapeOf(harness, run.threadId)).toEqual(undisturbed);
    }
  });
});
