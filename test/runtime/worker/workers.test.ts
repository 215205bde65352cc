// @module-tag slow
import { WaitingError, type Job } from 'bullmq';
import { createLanefold, defineAgent, defineTool, type ToolCallContext } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunJob, RunJobResult, RunQueue } from '../../../src/runs/queue/queue.ts';
import { processJob } from '../../../src/worker/process/process-job.ts';
import type { JobWorker } from '../../../src/worker/process/intake.ts';
import type { RunDependencies } from '../../../src/worker/run/dependencies.ts';
import { noRedis } from '../../support/lanefold.ts';
import { contextOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { deferred, until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

/** Leases that outlast every test: a run that continues was released, not recovered after its lease expired. */
const long = { leaseMs: 600_000, sweepMs: 600_000 };

describe.skipIf(noRedis())('a worker whose grace period is over', () => {
  let lanefold: Runtime;
  let calls: ToolCallContext[];
  let hold: (ctx: ToolCallContext) => Promise<string>;
  beforeAll(async () => {
    const tool = (name: string, replay: 'safe' | 'never') =>
      defineTool({
        name,
        input: { type: 'object' },
        replay,
        timeoutMs: 600_000,
        execute: (_, ctx) => {
          calls.push(ctx);
          return hold(ctx);
        },
      });
    const tools = [tool('look', 'safe'), tool('charge', 'never')];
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools })], { worker: long });
    await lanefold.worker.stop();
  });
  afterAll(() => lanefold?.close());
  beforeEach(() => {
    calls = [];
    hold = async () => 'done';
  });

  const kinds = async (threadId: string) => (await eventsOf(lanefold, threadId)).map((event) => event.kind);
  const claims = async (threadId: string) => {
    const { rows } = await lanefold.database.pool.query<{ lease: number; enqueue_no: number }>(
      'select lease::int, enqueue_no, claims_without_progress from lanefold._run where thread_id = $1',
      [threadId],
    );
    return rows[0]!;
  };

  test('aborts the model call and releases the run; the next worker repeats the call', async () => {
    const first = await lanefold.startWorker(long);
    let aborted = 0;
    const model = lanefold.model(async ({ abortSignal }, n) => {
      if (n > 0) return { text: 'hello' };
      return new Promise<never>((_, reject) => {
        abortSignal!.addEventListener('abort', () => {
          aborted += 1;
          reject(abortSignal!.reason as Error);
        });
      });
    });
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('the call is made', () => model.calls.length === 1);
    const { lease } = await claims(run.threadId);
    expect(await first.stop({ graceMs: 0 })).toEqual({ released: 1 });
    expect(aborted).toBe(1);
    expect(await lanefold.runs.get(run)).toMatchObject({ status: 'queued' });
    expect(await claims(run.threadId)).toEqual({ lease, enqueue_no: 2, claims_without_progress: 0 });

    const second = await lanefold.startWorker(long);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'hello' });
    expect(await kinds(run.threadId)).toEqual([
      'request_started',
      'llm_started',
      'llm_lost',
      'llm_started',
      'llm_completed',
      'checkpoint',
      'request_completed',
      'checkpoint',
    ]);
    await expectSound(lanefold, run.threadId);
    expect(await second.stop()).toEqual({ released: 0 });
  });

  test('can release a run repeatedly without counting towards maxClaimsWithoutProgress', async () => {
    let open = false;
    const model = lanefold.model(async ({ abortSignal }) => {
      if (open) return { text: 'at last' };
      return new Promise<never>((_, reject) =>
        abortSignal!.addEventListener('abort', () => reject(abortSignal!.reason as Error)),
      );
    });
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    for (let n = 1; n <= 4; n++) {
      const worker = await lanefold.startWorker({ ...long, maxClaimsWithoutProgress: 1 });
      await until('the worker has called the model', () => model.calls.length === n);
      expect(await worker.stop({ graceMs: 0 })).toEqual({ released: 1 });
    }
    open = true;
    const last = await lanefold.startWorker({ ...long, maxClaimsWithoutProgress: 1 });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'at last' });
    await last.stop();
    await expectSound(lanefold, run.threadId);
  });

  test('hands its run over even if stop() is called again', async () => {
    const worker = await lanefold.startWorker(long);
    let again: Promise<unknown> | undefined;
    const model = lanefold.model(async ({ abortSignal }) => {
      if (again) return { text: 'hello' };
      return new Promise<never>((_, reject) => {
        abortSignal!.addEventListener('abort', () => {
          again = worker.stop();
          reject(abortSignal!.reason as Error);
        });
      });
    });
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('the call is made', () => model.calls.length === 1);
    expect(await worker.stop({ graceMs: 0 })).toEqual({ released: 1 });
    expect(await again).toEqual({ released: 1 });
    const next = await lanefold.startWorker(long);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'hello' });
    await next.stop();
  });

  test('treats tool calls like a crash: stored outcomes are kept, safe calls run again, the others become unknown', async () => {
    const model = lanefold.model([
      {
        calls: [
          { id: 'c0', name: 'look' },
          { id: 'c1', name: 'look' },
          { id: 'c2', name: 'charge' },
        ],
      },
      { text: 'ended' },
    ]);
    // the first finishes, the other two ignore their abort signal
    hold = ({ callIndex }) => (callIndex === 0 ? Promise.resolve('seen') : new Promise<never>(() => {}));
    const first = await lanefold.startWorker(long);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('all tools are called and one outcome is stored', async () => {
      const rows = await ledgerOf(lanefold, run.threadId);
      return calls.length === 3 && rows[0]?.status === 'ok' && rows[2]?.status === 'started';
    });
    expect(await first.stop({ graceMs: 0 })).toEqual({ released: 1 });
    expect(calls.map((call) => call.signal.aborted)).toEqual([false, true, true]);

    hold = async () => 'seen again';
    const second = await lanefold.startWorker(long);
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'ended' });
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.status)).toEqual(['ok', 'ok', 'unknown']);
    expect((await contextOf(lanefold, run.threadId)).slice(2, 4)).toEqual([
      ['tool', 'seen'],
      ['tool', 'seen again'],
    ]);
    expect(calls.map((call) => call.callIndex)).toEqual([0, 1, 2, 1]);
    await expectSound(lanefold, run.threadId);
    await second.stop();
  });

  test('does not reclaim the runs it releases', async () => {
    const model = lanefold.model(() => new Promise<never>(() => {}));
    const runs = await Promise.all(
      Array.from({ length: 10 }, () => lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' })),
    );
    const worker = await lanefold.startWorker({ ...long, concurrency: 20 });
    await until('all calls are made', () => model.calls.length === runs.length);
    const held = await Promise.all(runs.map((run) => claims(run.threadId)));
    expect(await worker.stop({ graceMs: 0 })).toEqual({ released: runs.length });
    for (const [i, run] of runs.entries()) {
      expect(await claims(run.threadId)).toMatchObject({ lease: held[i]!.lease, enqueue_no: 2 });
      await lanefold.runs.cancel(run);
    }
  });

  test('leaves a run that can be cancelled while no worker is running', async () => {
    const model = lanefold.model(() => new Promise<never>(() => {}));
    const first = await lanefold.startWorker(long);
    const run = await lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'hi' });
    await until('the call is made', () => model.calls.length === 1);
    expect(await first.stop({ graceMs: 0 })).toEqual({ released: 1 });
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.get(run)).toMatchObject({ status: 'cancelled' });
    await expectSound(lanefold, run.threadId);
  });
});

describe.skipIf(noRedis())('workers in one process', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset })]);
  });
  afterAll(() => lanefold?.close());

  test('stop independently', async () => {
    const second = await lanefold.startWorker();
    expect(second.id).not.toBe(lanefold.worker.id);
    await second.stop();
    const { run } = await lanefold.run({ agent: 'a', input: 'still there?' });
    expect(run).toMatchObject({ status: 'completed', result: 'still there?' });
  });

  test('are stopped if Lanefold is closed while they start', async () => {
    const listeners = async () => {
      const { rows } = await lanefold.database.pool.query(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and application_name = 'lanefold listen'`,
      );
      return rows[0].n as number;
    };
    await until('the first one listens', async () => (await listeners()) === 1);
    const own = await createLanefold(lanefold.options);
    const starting = own.startWorker();
    await own.close();
    expect((await starting).active).toBe(0);
    await until('its connections are closed', async () => (await listeners()) === 1);
  });

  test('finish the active run before they stop, and start none afterwards', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'ended' })));
    const active = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'hi' });
    await until('the run is active', () => lanefold.worker.active === 1);
    const stopped = lanefold.worker.stop();
    gate.resolve();
    await stopped;
    expect(await lanefold.runs.get(active)).toMatchObject({ status: 'completed', result: 'ended' });
    const late = await lanefold.runs.enqueue({ agent: 'a', input: 'late' });
    expect(await lanefold.runs.get(late)).toMatchObject({ status: 'queued' });
    expect(await contextOf(lanefold, late.threadId)).toEqual([]);

    await lanefold.startWorker();
    expect(await lanefold.runs.wait(late)).toMatchObject({ status: 'completed' });
    await expectSound(lanefold, active.threadId);
  });
});

test('a stopping worker moves a new job back to waiting', async () => {
  const moved: unknown[] = [];
  const job = {
    data: { thread_id: 't', run_id: 'r', enqueue_no: 1, agent: 'a' },
    moveToWait: async (token: string) => void moved.push(token),
  } as unknown as Job<RunJob, RunJobResult>;
  // no database and no queue: it must use neither
  const worker = { phase: 'stopping', started: new Map() } as unknown as JobWorker;
  const work = processJob({} as RunDependencies, {} as RunQueue, worker);
  await expect(work(job, 'token', undefined)).rejects.toThrow(WaitingError);
  expect(moved).toEqual(['token']);
});
