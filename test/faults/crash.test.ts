import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startCrashBench, type CrashBench } from './crash-bench.ts';
import type { Answer, Visit } from './fixtures/outside.ts';
import { patient, quick } from './harness.ts';

describe.skipIf(noRedis())('a worker that is killed', () => {
  let bench: CrashBench;
  beforeAll(async () => {
    bench = await startCrashBench();
  });
  afterAll(() => bench?.close());

  const forever = new Promise<never>(() => {});
  const siblingsStored = (threadId: string) =>
    until('its siblings are stored', async () => {
      const rows = await ledgerOf(bench, threadId);
      return rows.filter((row) => row.status === 'ok').length === 2;
    });
  /** Answers the child by the script until it comes to `at`, which kills it. */
  const killedAt = (at: (visit: Visit) => boolean, options = {}) =>
    bench.crash(
      (visit, { child }) =>
        visit.worker === 'child' && at(visit) ? child.kill().then(() => forever) : bench.script(visit),
      options,
    );

  test('in a model call: the call is told as lost and made again, nothing else is', async () => {
    const run = await killedAt((visit) => visit.kind === 'model' && visit.turn === 1, { worker: quick });
    expect(run.shape).toEqual(bench.undisturbed);
    const lost = run.events.filter((event) => event.kind === 'llm_lost');
    expect(lost.map((event) => event.data['call_id'])).toEqual([`${run.id}.2`]);
    expect(bench.outside.count('model')).toBe(4);
    expect(bench.toolVisits()).toEqual([2, 1, 1]);
  });

  test('in a safe tool: it runs again under the same key', async () => {
    const run = await killedAt((visit) => visit.kind === 'tool' && visit.key.endsWith(':2:0'));
    expect(run.shape).toEqual(bench.undisturbed);
    expect(bench.outside.visits.filter((visit) => visit.key === `${run.id}:2:0`)).toHaveLength(2);
    expect(bench.toolVisits()).toEqual([3, 1, 1]);
    expect(bench.outside.count('model')).toBe(3);
  });

  test('in a tool that must never run again: the model is told that its outcome is unknown', async () => {
    const run = await bench.crash(async (visit, { child, threadId }) => {
      if (visit.name !== 'charge') return bench.script(visit);
      await siblingsStored(threadId);
      return child.kill().then(() => forever);
    });
    const told = (await contextOf(bench, run.threadId))[4]![1] as string;
    expect(JSON.parse(told)).toMatchObject({ ok: false, error: { type: 'unknown_outcome', retryable: false } });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'unknown', 'ok', 'ok']);
    expect(bench.toolVisits()).toEqual([2, 1, 1]);
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
  });

  const inVerifiable = (found: Answer) =>
    bench.crash(async (visit, { child, threadId }) => {
      if (visit.kind === 'verify') return found;
      if (visit.name !== 'send' || visit.worker !== 'child') return bench.script(visit);
      await siblingsStored(threadId);
      return child.kill().then(() => forever);
    });

  test.each([
    ['what it did is found', { result: 'send done' }, 1],
    ['it did nothing, so it runs again', null, 2],
  ])('in a tool that can be verified: %s', async (_, found, executions) => {
    const run = await inVerifiable(found);
    expect(run.shape).toEqual(bench.undisturbed);
    expect(bench.toolVisits()).toEqual([2, 1, executions]);
    const verified = bench.outside.visits.filter((visit) => visit.kind === 'verify');
    expect(verified.map((visit) => visit.key)).toEqual([`${run.id}:1:2`]);
  });

  test('in a tool whose look-up fails: it is not run again, and the model is told', async () => {
    const run = await inVerifiable({ error: 'the ledger of the bank is down' });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'All done.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'ok', 'unknown', 'ok']);
    expect(bench.toolVisits()).toEqual([2, 1, 1]);
  });

  test('and its run cancelled: the next worker ends it without a call', async () => {
    const run = await bench.crash(
      (visit, { child }) => (visit.kind === 'tool' ? child.kill().then(() => forever) : bench.script(visit)),
      { meanwhile: (handle) => bench.runs.cancel(handle) },
    );
    expect(run.ended).toMatchObject({ status: 'cancelled', terminationReason: 'cancelled' });
    expect(bench.outside.visits.every((visit) => visit.worker === 'child')).toBe(true);
    expect((await contextOf(bench, run.threadId)).map(([role]) => role)).toEqual([
      ...['system', 'user', 'assistant'],
      ...['tool', 'tool', 'tool'],
    ]);
  });

  test('and its run interrupted: the next worker ends it without a call, and runs the interrupt', async () => {
    let next: { threadId: string; id: string } | undefined;
    const run = await bench.crash(
      (visit, { child }) => {
        if (visit.kind === 'tool') return child.kill().then(() => forever);
        return next ? { text: 'Instead.' } : bench.script(visit);
      },
      {
        meanwhile: async ({ threadId }) =>
          (next = await bench.runs.enqueue({ agent: 'fault', input: 'instead', threadId, busy: 'interrupt' })),
      },
    );
    expect(run.ended).toMatchObject({ status: 'cancelled', error: { message: 'interrupted' } });
    const rescuer = await bench.startWorker(patient);
    expect(await bench.runs.wait(next!, { timeoutMs: 30_000 })).toMatchObject({ result: 'Instead.' });
    await rescuer.stop();
    expect((await contextOf(bench, run.threadId)).map(([role]) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'tool', 'tool'],
      ...['user', 'assistant'],
    ]);
  });

  test('and then the next one too: a third one ends the run', async () => {
    const second = await bench.child({ name: 'second', worker: patient });
    const run = await bench.crash(
      (visit, { child }) => {
        const victim = visit.worker === 'child' ? child : visit.worker === 'second' ? second : undefined;
        if (visit.kind !== 'model' || visit.turn !== 1 || !victim) return bench.script(visit);
        return victim.kill().then(() => forever);
      },
      { others: [second] },
    );
    expect(run.shape).toEqual(bench.undisturbed);
    expect(run.events.filter((event) => event.kind === 'llm_lost')).toHaveLength(2);
    expect(bench.toolVisits()).toEqual([2, 1, 1]);
  });
});
