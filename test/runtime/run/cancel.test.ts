import { APICallError } from '@ai-sdk/provider';
import { defineAgent, defineTool, type RunHandle } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { waitingForLock } from '../../support/database.ts';
import { startLanefold } from '../../support/lanefold.ts';
import { contextOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const signals: AbortSignal[] = [];
const deaf = defineTool({
  name: 'deaf',
  input: z.object({}),
  execute: (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  },
});
const quick = defineTool({ name: 'quick', input: z.object({}), execute: () => 'quick result' });
const busyFor = (seconds: number) =>
  new APICallError({
    message: 'busy',
    url: 'http://x',
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { 'retry-after': `${seconds}` },
  });
const agents = [defineAgent({ name: 'a', model: unset, tools: [deaf, quick] })];

describe('cancelling a run', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    // A worker learns of cancels when it renews its leases.
    lanefold = await startRuntime(agents, { worker: { leaseMs: 900 } });
  });
  afterAll(() => lanefold?.close());

  const hanging = () => lanefold.model(() => new Promise(() => {}));

  test('during a model call ends the run, aborts the call and frees the thread', async () => {
    const model = hanging();
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('the model is called', () => model.calls.length === 1);
    expect(await lanefold.runs.cancel(run, 'changed my mind')).toEqual({ status: 'running', accepted: true });
    expect(await lanefold.runs.wait(run)).toMatchObject({
      status: 'cancelled',
      terminationReason: 'cancelled',
      error: { type: 'cancelled', message: 'changed my mind' },
    });
    expect(model.calls[0]!.abortSignal!.aborted).toBe(true);
    expect((await eventsOf(lanefold, run.threadId)).slice(-2)).toMatchObject([
      { kind: 'request_cancelled', data: { reason: 'changed my mind' } },
      { kind: 'checkpoint', data: { reason: 'terminal' } },
    ]);
    const next = await lanefold.run({ agent: 'a', model: unset, input: 'again', threadId: run.threadId });
    expect(next.run).toMatchObject({ status: 'completed', result: 'again' });
    await expectSound(lanefold, run.threadId);
  });

  test('during tool calls closes their group: stored outcomes are kept, the others are reported as cancelled', async () => {
    const model = lanefold.model([{ calls: [{ name: 'deaf' }, { name: 'quick' }] }]);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('one outcome is stored', async () =>
      (await ledgerOf(lanefold, run.threadId)).some((row) => row.status === 'ok'),
    );
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    expect(signals.at(-1)!.aborted).toBe(true);
    const [, , abandoned, finished] = await contextOf(lanefold, run.threadId);
    expect(JSON.parse(abandoned![1] as string)).toMatchObject({ ok: false, error: { type: 'cancelled' } });
    expect(finished).toEqual(['tool', 'quick result']);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual(['abandoned', 'ok']);
    expect(model.calls).toHaveLength(1);
    await expectSound(lanefold, run.threadId);
  });

  test('during the delay before a model retry ends it immediately', async () => {
    const model = lanefold.model(() => busyFor(50));
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('it waits for the retry', async () =>
      (await eventsOf(lanefold, run.threadId)).some((e) => e.kind === 'llm_retry'),
    );
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'cancelled' });
    expect(model.calls).toHaveLength(1);
    await expectSound(lanefold, run.threadId);
  });

  test('after it has ended changes nothing', async () => {
    const done = await lanefold.run({ agent: 'a', model: unset, input: 'hi' });
    expect(await lanefold.runs.cancel(done)).toEqual({ status: 'completed', accepted: false });
    expect((await lanefold.runs.get(done)).status).toBe('completed');
    await expectSound(lanefold, done.threadId);
  });

  test('while it waits leaves the active run alone', async () => {
    const gate = deferred();
    const model = lanefold.model(async () => gate.promise.then(() => ({ text: 'done' })));
    const active = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('the model is called', () => model.calls.length === 1);
    const options = { agent: 'a', model: unset, threadId: active.threadId, busy: 'wait' as const };
    const second = await lanefold.runs.enqueue({ ...options, input: 'second' });
    const third = await lanefold.runs.enqueue({ ...options, input: 'third' });
    expect(await lanefold.runs.cancel(second)).toEqual({ status: 'cancelled', accepted: true });
    gate.resolve();
    expect(await lanefold.runs.wait(third)).toMatchObject({ status: 'completed' });
    expect((await contextOf(lanefold, active.threadId)).map(([, content]) => content)).toEqual([
      'hi',
      'done',
      'third',
      'third',
    ]);
    await expectSound(lanefold, active.threadId);
  });

  test('before a worker claims it ends it immediately, logs no message and promotes the next run', async () => {
    const idle = await startLanefold({ agents });
    try {
      const first = await idle.runs.enqueue({ agent: 'a', input: 'never asked' });
      const next = await idle.runs.enqueue({ agent: 'a', input: 'next', threadId: first.threadId, busy: 'wait' });
      expect(await idle.runs.cancel(first)).toEqual({ status: 'cancelled', accepted: true });
      await idle.startWorker({ sweepMs: 3_600_000 });
      expect(await idle.runs.wait(next)).toMatchObject({ status: 'completed', result: 'next' });
      expect(await contextOf(idle, first.threadId)).toEqual([
        ['user', 'next'],
        ['assistant', 'next'],
      ]);
      await expectSound(idle, first.threadId);
    } finally {
      await idle.close();
    }
  });

  test('before the final commit wins: the answer is logged, but the run is cancelled, with the reason given', async () => {
    const late = await startRuntime(agents, { worker: { leaseMs: 3_600_000 } });
    const other = new pg.Client({ connectionString: late.databaseUrl });
    try {
      await other.connect();
      const enqueued = deferred<RunHandle>();
      const model = late.model(async () => {
        const { threadId, id } = await enqueued.promise;
        await other.query('begin');
        await other.query('select lanefold.cancel_run($1, $2, $3)', [threadId, id, 'first']);
        return { text: 'too late' };
      });
      const run = await late.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
      enqueued.resolve(run);
      // the commit is under way before the worker is told of the cancel
      await until('the last commit waits for the thread', async () => {
        const { rows } = await other.query(waitingForLock);
        return rows.length > 0;
      });
      await other.query('commit');
      const ended = await late.runs.wait(run);
      expect(ended).toMatchObject({ status: 'cancelled', result: null, error: { message: 'first' } });
      expect(await late.runs.cancel(run)).toEqual({ status: 'cancelled', accepted: false });
      expect(await contextOf(late, run.threadId)).toEqual([
        ['user', 'hi'],
        ['assistant', 'too late'],
      ]);
      await expectSound(late, run.threadId);
    } finally {
      await other.end();
      await late.close();
    }
  });
});
