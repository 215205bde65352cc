// @module-tag slow
import { defineAgent, LanefoldError, type EnqueueOptions, type RunHandle, type RunningWorker } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { fakeModel } from '../support/fake-model.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { functionsIn } from '../support/statements.ts';
import { deferred, until } from '../support/until.ts';

/** One worker with one hand, which `busy` keeps from the runs that follow. */
describe('when a worker starts a run', () => {
  let lanefold: TestLanefold;
  let worker: RunningWorker;
  let started: string[];
  const ends: string[] = [];
  let gate: ReturnType<typeof deferred<void>>;
  beforeAll(async () => {
    const model = fakeModel(async ({ prompt }) => {
      const input = JSON.stringify(prompt);
      const name = input.match(/(?<=«)\w+(?=»)/g)!.at(-1)!;
      started.push(name);
      if (name === 'busy') await gate.promise;
      return { text: 'done' };
    });
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'fake' })], models: { fake: model } });
    const onRunEnd = ({ runId, status }: { runId: string; status: string }) => ends.push(`${runId} ${status}`);
    worker = await lanefold.startWorker({ concurrency: 1, sweepMs: 150, leaseMs: 1_000, metrics: true, onRunEnd });
  });
  afterAll(() => lanefold?.close());

  const enqueue = (name: string, options: Partial<EnqueueOptions> = {}) =>
    lanefold.runs.enqueue({ agent: 'a', input: `«${name}»`, ...options });
  const end = (run: RunHandle) => lanefold.runs.wait(run);
  /** Keeps the worker busy until `free` is called. */
  async function busy(): Promise<{ run: RunHandle; free: () => void }> {
    started = [];
    gate = deferred();
    const run = await enqueue('busy');
    await until('the worker is busy', () => started.length === 1);
    return { run, free: () => gate.resolve() };
  }
  const ownQueue = () => {
    const { options, databaseUrl } = lanefold;
    return openQueue({ redisUrl: options.redisUrl ?? undefined, databaseUrl, prefix: options.queuePrefix! });
  };
  /** As if the queue had been lost long ago: every job that waits, with what it knew. */
  async function loseJobs(): Promise<void> {
    const queue = ownQueue();
    await queue.queues[0]!.drain(true);
    await queue.close();
    await lanefold.database.pool.query(
      "update lanefold._run set enqueued_at = now() - interval '1 hour' where status = 'queued'",
    );
  }

  async function sortsByPriority({ lost }: { lost: boolean }): Promise<void> {
    const { free } = await busy();
    const runs = [];
    for (const priority of [9, 2, 0, 5]) runs.push(await enqueue(`${priority}`, { priority }));
    expect(await lanefold.runs.get(runs[0]!)).toMatchObject({ priority: 9, startAt: null, expiresAt: null });
    if (lost) {
      await loseJobs();
      await until('all have a new job', async () => {
        const { rows } = await lanefold.database.pool.query(
          "select from lanefold._run where status = 'queued' and enqueue_no = 1",
        );
        return rows.length === 0;
      });
    }
    free();
    for (const run of runs) expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(started).toEqual(['busy', '0', '2', '5', '9']);
  }
  test('its priority sorts it among those that wait', () => sortsByPriority({ lost: false }));
  // a sweep looks that far back after 15 s at the latest
  test('its priority sorts it among those that lost their jobs', { tags: 'slow' }, () =>
    sortsByPriority({ lost: true }),
  );

  test('it has its priority also after it waited for its thread', async () => {
    const { run, free } = await busy();
    const next = await enqueue('next', { threadId: run.threadId, busy: 'wait', priority: 3 });
    const [low, high] = [await enqueue('low', { priority: 4 }), await enqueue('high', { priority: 1 })];
    free();
    for (const one of [next, low, high]) await end(one);
    expect(started).toEqual(['busy', 'high', 'next', 'low']);
  });

  test('not before its delay is over, and it holds its thread meanwhile', async () => {
    started = [];
    const run = await enqueue('later', { delayMs: 600 });
    const { startAt, createdAt, status } = await lanefold.runs.get(run);
    expect(status).toBe('queued');
    expect(startAt!.getTime() - createdAt.getTime()).toBe(600);
    await expect(enqueue('other', { threadId: run.threadId })).rejects.toMatchObject({ code: 'thread_busy' });
    const ended = await end(run);
    expect(ended.status).toBe('completed');
    expect(ended.startedAt!.getTime()).toBeGreaterThanOrEqual(startAt!.getTime());
  });

  test('also where its job was lost', async () => {
    started = [];
    const run = await enqueue('later', { delayMs: 700 });
    await loseJobs();
    const ended = await end(run);
    expect(ended.startedAt!.getTime()).toBeGreaterThanOrEqual(ended.startAt!.getTime());
  });

  test('its delay is no time in the queue', async () => {
    const run = await enqueue('tomorrow', { delayMs: 86_400_000 });
    await lanefold.database.pool.query(
      "update lanefold._run set enqueued_at = now() - interval '1 hour' where id = $1",
      [run.id],
    );
    expect((await lanefold.stats()).oldestQueuedSeconds).toBe(0);
  });

  test('its job goes with it if it is cancelled before', async () => {
    const run = await enqueue('never', { delayMs: 86_400_000 });
    const queue = ownQueue();
    const job = () => queue.queues[0]!.getJob(`${run.id}.1`);
    expect(await job()).toBeDefined();
    expect(await lanefold.runs.cancel(run)).toEqual({ status: 'cancelled', accepted: true });
    expect(await job()).toBeUndefined();
    await queue.close();
  });

  test('a run that waits too long for a worker or its thread fails with `expired`; one that was taken does not', async () => {
    const { run, free } = await busy();
    const late = await enqueue('late', { ttlMs: 1 });
    const behind = await enqueue('behind', { threadId: run.threadId, busy: 'wait', ttlMs: 1 });
    for (const one of [late, behind])
      expect(await end(one)).toMatchObject({ status: 'failed', error: { type: 'expired' }, startedAt: null });
    for (const { id } of [late, behind]) await until('its end is reported', () => ends.includes(`${id} failed`));
    expect(await worker.metrics()).toContain('lanefold_worker_runs_refused_total{agent="a",reason="expired"} 2');
    const soon = await enqueue('soon', { ttlMs: 3_600_000 });
    expect((await lanefold.runs.get(soon)).expiresAt!.getTime()).toBeGreaterThan(Date.now());
    free();
    expect(await end(soon)).toMatchObject({ status: 'completed', expiresAt: null });
    expect(started).toEqual(['busy', 'soon']);
  });

  test('refuses what is no time or priority', async () => {
    for (const options of [
      { delayMs: -1 },
      { ttlMs: 0 },
      { priority: 1.5 },
      { priority: 2_097_152 },
      { delayMs: '5' as never },
    ])
      await expect(enqueue('x', options)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  describe('enqueueMany', () => {
    test('answers each request, accepts what it can, and asks the database once for all threads', async () => {
      const { run, free } = await busy();
      const on = { agent: 'a', threadId: run.threadId };
      const requests: EnqueueOptions[] = [
        { agent: 'a', input: '«one»', requestId: 'once' },
        { ...on, input: '«refused»' },
        { ...on, input: '«two»', busy: 'wait' },
        { agent: 'nobody', input: '«refused»' },
        { agent: 'a', input: ' ' },
        { agent: 'a', input: '«refused»', prioritty: 1 } as EnqueueOptions,
        null as never,
        { agent: 'a', input: '«one»', requestId: 'once' },
        { agent: 'a', input: '«refused»', requestId: 'once' },
        { agent: 'a', input: '«three»', priority: 4 },
      ];
      const sent = vi.spyOn(pg.Client.prototype, 'query');
      const answers = await lanefold.runs.enqueueMany(requests);
      const calls = sent.mock.calls.map(([statement]) => functionsIn(statement));
      vi.restoreAllMocks();
      const enqueued = calls.filter((names) => names.includes('enqueue_run'));
      // `once` has three requests, the thread of `busy` two
      expect(enqueued.map((names) => names.length)).toEqual(citusLacks.batches ? Array(6).fill(1) : [3, 2, 1]);
      expect(answers.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code))).toEqual([
        'queued',
        'thread_busy',
        'waiting',
        'unknown_agent',
        'empty_content',
        'invalid_input',
        'invalid_input',
        'queued',
        'idempotency_mismatch',
        'queued',
      ]);
      for (const one of answers) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(LanefoldError);
      const runs = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      expect(runs.map((one) => one.duplicate)).toEqual([false, false, true, false]);
      free();
      for (const one of runs) expect(await end(one)).toMatchObject({ status: 'completed' });
      expect([...started].sort()).toEqual(['busy', 'one', 'three', 'two']);
    });

    test('keeps the order given on one thread, whatever shares its connections', async () => {
      const first = await enqueue('first', { delayMs: 3_600_000 });
      const on = { agent: 'a', threadId: first.threadId, busy: 'wait' } as const;
      const inputs = Array.from({ length: 120 }, (_, i) => `«${i}»`);
      inputs[60] = ' ';
      const answers = await lanefold.runs.enqueueMany(inputs.map((input) => ({ ...on, input })));
      const given = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value.id : []));
      expect(given).toHaveLength(119);
      const { rows } = await lanefold.database.pool.query<{ id: string }>(
        "select id from lanefold._run where thread_id = $1 and status = 'waiting' order by created_at",
        [first.threadId],
      );
      expect(rows.map(({ id }) => id)).toEqual(given);
    });

    test('is part of a transaction, in which a refusal harms no other request', async () => {
      started = [];
      const tx = await lanefold.database.pool.connect();
      try {
        await tx.query('begin');
        const same = { agent: 'a', threadId: 'batch-thread', createThread: true };
        const requests = [
          { ...same, input: '«a»' },
          { ...same, input: '«refused»' },
          { agent: 'a', input: '«b»' },
        ];
        const answers = await lanefold.runs.enqueueMany(requests, { tx });
        expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        await tx.query('commit');
        for (const one of answers)
          if (one.status === 'fulfilled') expect(await end(one.value)).toMatchObject({ status: 'completed' });
      } finally {
        tx.release();
      }
    });

    test('takes nothing but a list', async () => {
      await expect(lanefold.runs.enqueueMany({} as never)).rejects.toMatchObject({ code: 'invalid_input' });
      expect(await lanefold.runs.enqueueMany([])).toEqual([]);
    });
  });
});
