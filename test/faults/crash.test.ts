import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contextOf, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startCrashHarness, type CrashHarness } from './crash-harness.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { patient, quick } from './harness.ts';

describe('a worker that is killed', () => {
  let harness: CrashHarness;
  beforeAll(async () => {
    harness = await startCrashHarness();
  });
  afterAll(() => harness?.close());

  const forever = new Promise<never>(() => {});
  const siblingsStored = (threadId: string) =>
    until('the outcomes of the other tools are stored', async () => {
      const rows = await ledgerOf(harness, threadId);
      return rows.filter((row) => row.status === 'ok').length === 2;
    });
  /** Follows the script and kills the worker process at the first call that matches `at`. */
  const killedAt = (at: (call: ExternalCall) => boolean, options = {}) =>
    harness.crash(
      (call, { child }) =>
        call.worker === 'child' && at(call) ? child.kill().then(() => forever) : harness.script(call),
      options,
    );

  test('during a model call: only that call is reported as lost and repeated', async () => {
    const run = await killedAt((call) => call.kind === 'model' && call.turn === 1, { worker: quick });
    expect(run.shape).toEqual(harness.undisturbed);
    const lost = run.events.filter((event) => event.kind === 'llm_lost');
    expect(lost.map((event) => event.data['call_id'])).toEqual([`${run.id}.2`]);
    expect(harness.callServer.count('model')).toBe(4);
    expect(harness.toolExecutions()).toEqual([2, 1, 1]);
  });

  test('during a safe tool: it runs again with the same idempotency key', async () => {
    const run = await killedAt((call) => call.kind === 'tool' && call.key.endsWith(':2:0'));
    expect(run.shape).toEqual(harness.undisturbed);
    expect(harness.callServer.calls.filter((call) => call.key === `${run.id}:2:0`)).toHaveLength(2);
    expect(harness.toolExecutions()).toEqual([3, 1, 1]);
    expect(harness.callServer.count('model')).toBe(3);
  });

  test('during a tool with replay: never: the model learns that its outcome is unknown', async () => {
    const run = await harness.crash(async (call, { child, threadId }) => {
      if (call.name !== 'charge') return harness.script(call);
      await siblingsStored(threadId);
      return child.kill().then(() => forever);
    });
    const result = (await contextOf(harness, run.threadId))[4]![1] as string;
    expect(JSON.parse(result)).toMatchObject({ ok: false, error: { type: 'unknown_outcome', retryable: false } });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'unknown', 'ok', 'ok']);
    expect(harness.toolExecutions()).toEqual([2, 1, 1]);
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
  });

  const inVerifiable = (found: Answer) =>
    harness.crash(async (call, { child, threadId }) => {
      if (call.kind === 'verify') return found;
      if (call.name !== 'send' || call.worker !== 'child') return harness.script(call);
      await siblingsStored(threadId);
      return child.kill().then(() => forever);
    });

  test.each([
    ['its result is found', { result: 'send done' }, 1],
    ['no result is found, so it runs again', null, 2],
  ])('during a tool with verification: %s', async (_, found, executions) => {
    const run = await inVerifiable(found);
    expect(run.shape).toEqual(harness.undisturbed);
    expect(harness.toolExecutions()).toEqual([2, 1, executions]);
    const verified = harness.callServer.calls.filter((call) => call.kind === 'verify');
    expect(verified.map((call) => call.key)).toEqual([`${run.id}:1:2`]);
  });

  test('during a tool whose verification fails: it is not repeated, and the model learns it', async () => {
    const run = await inVerifiable({ error: 'the ledger of the bank is down' });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'ok', 'unknown', 'ok']);
    expect(harness.toolExecutions()).toEqual([2, 1, 1]);
  });

  test('and its run cancelled: the next worker ends the run without another call', async () => {
    const run = await harness.crash(
      (call, { child }) => (call.kind === 'tool' ? child.kill().then(() => forever) : harness.script(call)),
      { meanwhile: (handle) => harness.runs.cancel(handle) },
    );
    expect(run.ended).toMatchObject({ status: 'cancelled', terminationReason: 'cancelled' });
    expect(harness.callServer.calls.every((call) => call.worker === 'child')).toBe(true);
    expect((await contextOf(harness, run.threadId)).map(([role]) => role)).toEqual([
      ...['system', 'user', 'assistant'],
      ...['tool', 'tool', 'tool'],
    ]);
  });

  test('and its run interrupted: the next worker ends the run without another call and executes the interrupting run', async () => {
    let next: { threadId: string; id: string } | undefined;
    const run = await harness.crash(
      (call, { child }) => {
        if (call.kind === 'tool') return child.kill().then(() => forever);
        return next ? { text: 'Instead.' } : harness.script(call);
      },
      {
        meanwhile: async ({ threadId }) =>
          (next = await harness.runs.enqueue({ agent: 'fault', input: 'instead', threadId, busy: 'interrupt' })),
      },
    );
    expect(run.ended).toMatchObject({ status: 'cancelled', error: { message: 'interrupted' } });
    const rescuer = await harness.startWorker(patient);
    expect(await harness.runs.wait(next!)).toMatchObject({ result: 'Instead.' });
    await rescuer.stop();
    expect((await contextOf(harness, run.threadId)).map(([role]) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'tool', 'tool'],
      ...['user', 'assistant'],
    ]);
  });

  test('twice in a row: a third worker completes the run', async () => {
    const second = await harness.spawnWorker({ name: 'second', worker: patient });
    const run = await harness.crash(
      (call, { child }) => {
        const target = call.worker === 'child' ? child : call.worker === 'second' ? second : undefined;
        if (call.kind !== 'model' || call.turn !== 1 || !target) return harness.script(call);
        return target.kill().then(() => forever);
      },
      { others: [second] },
    );
    expect(run.shape).toEqual(harness.undisturbed);
    expect(run.events.filter((event) => event.kind === 'llm_lost')).toHaveLength(2);
    expect(harness.toolExecutions()).toEqual([2, 1, 1]);
  });
});
