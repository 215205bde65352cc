import { createLanefold, defineAgent, defineTool, type EnqueueOptions, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startProxy, type Proxy } from './fixtures/proxy.ts';
import { quick } from './harness.ts';
import { shapeOf } from './normalise.ts';

let executions = 0;
let modelCalls = 0;
const work = (name: string, replay: 'safe' | 'never') =>
  defineTool({ name, replay, input: z.object({}), execute: () => `${name} ${(executions += 1) > 0}` });

const asking = defineTool({ name: 'charge', input: z.object({}), needsApproval: true, execute: () => 'charged' });
/** How runs ended for the worker, by id. */
const ends = new Map<string, string>();

/** A round of two tools, then an answer; or a failure for good. */
const model = fakeModel((call) => {
  modelCalls += 1;
  if (JSON.stringify(call.prompt).includes('break')) return new Error('broken for good');
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

describe.skipIf(noRedis())('a database that loses its answer to', () => {
  let bench: TestLanefold;
  let proxy: Proxy;
  /** The one behind the proxy; its queue has a connection of its own. */
  let cutOff: Lanefold;
  let undisturbed: unknown[];
  let undisturbedEvents: string[];
  const request: EnqueueOptions = { agent: 'a', input: 'go' };
  const kinds = async (threadId: string) => (await eventsOf(bench, threadId)).map((event) => event.kind);

  beforeAll(async () => {
    bench = await startLanefold(options);
    proxy = await startProxy(bench.database.url);
    cutOff = await createLanefold({ ...bench.options, databaseUrl: proxy.url, directUrl: bench.database.url });
    await cutOff.startWorker({ ...quick, onRunEnd: ({ runId, status }) => ends.set(runId, status) });
    const control = await bench.runs.enqueue(request);
    await bench.runs.wait(control);
    undisturbed = await shapeOf(bench, control.threadId);
    undisturbedEvents = await kinds(control.threadId);
  });
  afterAll(async () => {
    await cutOff?.close();
    await proxy?.close();
    await bench?.close();
  });
  beforeEach(() => void (executions = modelCalls = 0));

  test.each([
    ['commit_step', 1],
    ['commit_step', 2],
    ['commit_step', 3],
    ['record_tool_call', 1],
    ['record_tool_call', 2],
  ])('%s %i writes it once, and the run goes on where it was', async (statement, nth) => {
    const before = proxy.swallowed;
    proxy.swallow(statement, nth);
    const run = await bench.runs.enqueue(request);
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.', step: 3 });
    expect(proxy.swallowed).toBe(before + 1);
    expect(await shapeOf(bench, run.threadId)).toEqual(undisturbed);
    expect(await kinds(run.threadId)).toEqual(undisturbedEvents);
    expect([modelCalls, executions]).toEqual([2, 2]);
    expect((await ledgerOf(bench, run.threadId)).map((row) => row.status)).toEqual(['ok', 'ok']);
    await expectSound(bench, run.threadId);
  });

  test('finish_run ends the run once', async () => {
    const before = proxy.swallowed;
    proxy.swallow('finish_run');
    const run = await bench.runs.enqueue({ ...request, input: 'break' });
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'failed', error: { message: 'broken for good' } });
    expect(proxy.swallowed).toBe(before + 1);
    expect(modelCalls).toBe(1);
    await expectSound(bench, run.threadId);
  });

  test('suspend_run, while the run is cancelled, ends it as cancelled for the worker too', async () => {
    await bench.database.pool.query(`
      create function cancel_suspended() returns trigger language plpgsql as
        'begin perform lanefold.cancel_run(new.thread_id, new.id); return null; end';
      create constraint trigger cancel_suspended after update on lanefold._run deferrable initially deferred
        for each row when (new.status = 'suspended') execute function cancel_suspended()`);
    const before = proxy.swallowed;
    proxy.swallow('suspend_run');
    const run = await bench.runs.enqueue({ ...request, agent: 'careful' });
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    expect(await until('the worker has noticed', () => ends.get(run.id))).toBe('cancelled');
    expect(proxy.swallowed).toBe(before + 1);
    await expectSound(bench, run.threadId);
    await bench.database.pool.query('drop trigger cancel_suspended on lanefold._run');
  });

  test('claim_run leaves the run to the next claim, when the lease is past', async () => {
    const before = proxy.swallowed;
    proxy.swallow('claim_run');
    const run = await bench.runs.enqueue(request);
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    expect(proxy.swallowed).toBe(before + 1);
    expect(await shapeOf(bench, run.threadId)).toEqual(undisturbed);
    expect([modelCalls, executions]).toEqual([2, 2]);
    await expectSound(bench, run.threadId);
  });

  test('enqueue_run tells the caller so, who asks again and gets the same run', async () => {
    proxy.swallow('enqueue_run');
    const own = { ...request, threadId: 'asked-twice', createThread: true, requestId: 'once' };
    await expect(cutOff.runs.enqueue(own)).rejects.toMatchObject({ code: 'database_unreachable' });
    const run = await cutOff.runs.enqueue(own);
    expect(run.duplicate).toBe(true);
    expect(await bench.runs.wait(run)).toMatchObject({ status: 'completed' });
    expect(await shapeOf(bench, run.threadId)).toEqual(undisturbed);
    await expectSound(bench, run.threadId);
  });
});
