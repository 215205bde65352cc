// @module-tag long
import { defineAgent } from 'lanefold';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import type { RunQueue } from '../../src/runs/queue/queue.ts';
import { fakeModel, type FakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { contextOf, eventsOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { patient, quick } from './harness.ts';

describe.skipIf(noRedis())('a queue that loses its jobs', () => {
  let lanefold: TestLanefold;
  let queue: RunQueue;
  let model: FakeModel;
  let gate: ReturnType<typeof deferred<void>>;
  beforeEach(async () => {
    gate = deferred();
    model = fakeModel(async () => gate.promise.then(() => ({ text: 'done' })));
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'fake' })], models: { fake: model } });
    queue = openQueue({
      redisUrl: lanefold.options.redisUrl ?? undefined,
      databaseUrl: lanefold.databaseUrl,
      prefix: lanefold.options.queuePrefix!,
    });
    await queue.ready();
  });
  afterEach(async () => {
    gate.resolve();
    await queue?.close();
    await lanefold?.close();
  });

  /** Deletes all data of the queue, as a flushed or lost Redis or lost queue tables would. */
  const wipe = async () => {
    if (queue.backend === 'postgres') return void (await wipeTables(lanefold));
    const redis = new Redis(lanefold.options.redisUrl!);
    const keys = await redis.keys(`{${lanefold.options.queuePrefix}-0}*`);
    expect(keys.length).toBeGreaterThan(0);
    await redis.del(...keys);
    await redis.quit();
  };
  const enqueue = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => lanefold.runs.enqueue({ agent: 'a', input: `run ${i}` })));
  const expectAllCompleted = async (runs: { threadId: string; id: string }[]) => {
    for (const run of runs) {
      expect(await lanefold.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'done',
      });
      expect(await contextOf(lanefold, run.threadId)).toHaveLength(2);
      await expectSound(lanefold, run.threadId);
    }
  };
  const stateOf = async (threadId: string) => {
    const { rows } = await lanefold.database.pool.query(
      `select t.rev, t.event_rev, r.enqueue_no, r.lease, r.status, r.step from lanefold.thread t
       join lanefold._run r on r.thread_id = t.id where t.id = $1`,
      [threadId],
    );
    return rows[0];
  };

  test('before a worker takes them: the sweep adds them again', async () => {
    gate.resolve();
    const runs = await enqueue(5);
    await wipe();
    await lanefold.startWorker(quick);
    await expectAllCompleted(runs);
    expect((await stateOf(runs[0]!.threadId)).enqueue_no).toBe(2);
  });

  test('because it was obliterated: the sweep adds them again', async () => {
    gate.resolve();
    const runs = await enqueue(3);
    await queue.queues[0]!.obliterate({ force: true });
    await lanefold.startWorker(quick);
    await expectAllCompleted(runs);
  });

  test('before they were added: the sweep adds them from the run table', async () => {
    gate.resolve();
    const runs = [1, 2].map((n) => ({ threadId: `t${n}`, id: `run_${n}` }));
    for (const { threadId, id } of runs) {
      const body = { agent: 'a', strategy: 'react', model: 'fake', context_ref: 'default', create_thread: true };
      const request = {
        ...body,
        run_id: id,
        request_id: id,
        request_hash: '00',
        queue_prefix: lanefold.options.queuePrefix,
      };
      await lanefold.database.pool.query('select lanefold.enqueue_run($1, $2)', [
        threadId,
        { ...request, input: { content: 'hi' } },
      ]);
    }
    await lanefold.startWorker(quick);
    await expectAllCompleted(runs);
  });

  test('during a run: the run completes and the sweep adds waiting jobs again', async () => {
    await lanefold.startWorker({ ...quick, concurrency: 1 });
    const runs = await enqueue(3);
    await until('a run is in progress', () => model.calls.length === 1);
    await wipe();
    gate.resolve();
    await expectAllCompleted(runs);
    expect(model.calls).toHaveLength(3);
  });

  /** Leaves a run as a crashed worker does: claimed, with an expired lease and no job. */
  const abandon = async ({ threadId, id }: { threadId: string; id: string }) => {
    await (await queue.queues[0]!.getJob(`${id}.1`))!.remove();
    const claim = {
      worker_id: 'dead',
      lease_ms: -1_000,
      prompt: null,
      config_fingerprint: '',
      max_claims_without_progress: 5,
      alone: true,
      strategies: ['react'],
    };
    await lanefold.database.pool.query('select lanefold.claim_run($1, $2, 1, $3)', [threadId, id, claim]);
  };
  const backDate = (threadId: string) =>
    lanefold.database.pool.query(
      "update lanefold._run set enqueued_at = now() - interval '1 hour' where thread_id = $1",
      [threadId],
    );

  test('with a crashed worker while other runs wait: its run gets one new job, however long that job waits', async () => {
    await lanefold.startWorker({ concurrency: 1, leaseMs: 60_000, sweepMs: 100 });
    const [first] = await enqueue(1);
    await until('a run is in progress', () => model.calls.length === 1);
    const [second] = await enqueue(1);
    await abandon(second!);
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      await backDate(second!.threadId);
      await until('a sweep has checked the run', async () => {
        const { rows } = await lanefold.database.pool.query(
          "select from lanefold._run where thread_id = $1 and enqueued_at > clock_timestamp() - interval '30 min'",
          [second!.threadId],
        );
        return rows.length === 1;
      });
      expect((await stateOf(second!.threadId)).enqueue_no).toBe(2);
    }
    gate.resolve();
    await expectAllCompleted([first!, second!]);
    expect((await stateOf(second!.threadId)).enqueue_no).toBe(2);
  });

  test('while a transaction locks runs and threads: the other runs are still recovered', async () => {
    gate.resolve();
    const [lost, expired, cancelled, free] = await enqueue(4);
    await abandon(expired!);
    await abandon(cancelled!);
    await lanefold.runs.cancel(cancelled!);
    await wipe();
    const held = [lost, expired, cancelled].map((run) => run!.threadId);
    const client = await lanefold.database.pool.connect();
    try {
      await client.query('begin');
      for (const id of held) {
        await client.query('select from lanefold.thread where id = $1 for update', [id]);
        await client.query('select from lanefold._run where thread_id = $1 for update', [id]);
      }
      await lanefold.startWorker({ ...quick, cancelGraceMs: 1 });
      await expectAllCompleted([free!]);
      expect((await stateOf(expired!.threadId)).enqueue_no).toBe(1);
    } finally {
      await client.query('rollback');
      client.release();
    }
    await expectAllCompleted([lost!, expired!]);
    expect(await lanefold.runs.wait(cancelled!)).toMatchObject({ status: 'cancelled' });
  });

  test('or delivers a job twice or late starts nothing', async () => {
    await lanefold.startWorker(patient);
    const [run] = await enqueue(1);
    const { threadId, id } = run!;
    await until('the run is in progress', () => model.calls.length === 1);
    const before = await stateOf(threadId);
    const job = { thread_id: threadId, run_id: id, agent: 'a', enqueue_no: 1 };
    await queue.add(job, 0);
    const outcome = async (data: typeof job, jobId: string) => {
      await queue.queues[0]!.add('run', data, { jobId });
      const done = await until('the job has ended', async () => {
        const found = await queue.queues[0]!.getJob(jobId);
        return found?.finishedOn ? found : undefined;
      });
      return done.returnvalue;
    };
    expect(await outcome(job, 'twin')).toEqual({ status: 'running', reason: 'leased' });
    expect(await outcome({ ...job, enqueue_no: 0 }, 'older')).toEqual({ status: 'running', reason: 'superseded' });
    expect(await outcome({ ...job, enqueue_no: 9 }, 'newer')).toEqual({ status: 'running', reason: 'superseded' });
    expect(await stateOf(threadId)).toEqual(before);
    gate.resolve();
    await expectAllCompleted([run!]);
    const ended = await stateOf(threadId);
    expect(await outcome(job, 'late')).toEqual({ status: 'completed', reason: 'not_queued' });
    expect(await stateOf(threadId)).toEqual(ended);
    expect(model.calls).toHaveLength(1);
  });

  test('gets no new job for a run whose worker renews the lease beyond its duration', async () => {
    const lease = { leaseMs: 6_000, sweepMs: 100 };
    await lanefold.startWorker(lease);
    await lanefold.startWorker(lease);
    const [run] = await enqueue(1);
    await until('the run is in progress', () => model.calls.length === 1);
    const { lease: held } = await stateOf(run!.threadId);
    await until('the lease has been extended by more than two leases', async () => {
      const { rows } = await lanefold.database.pool.query<{ extended: boolean }>(
        `select lease_until > started_at + 3 * interval '${lease.leaseMs} ms' as extended
         from lanefold.run where thread_id = $1`,
        [run!.threadId],
      );
      return rows[0]!.extended;
    });
    expect(await stateOf(run!.threadId)).toMatchObject({ status: 'running', enqueue_no: 1, lease: held, step: 0 });
    gate.resolve();
    await expectAllCompleted([run!]);
    expect(model.calls).toHaveLength(1);
    expect((await eventsOf(lanefold, run!.threadId)).map((event) => event.kind)).not.toContain('llm_lost');
  });
});

async function wipeTables(lanefold: TestLanefold): Promise<void> {
  const { rows } = await lanefold.database.pool.query<{ names: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as names from pg_tables
     where schemaname = 'bullmq' and tablename !~ 'migration|version'`,
  );
  await lanefold.database.pool.query(`truncate ${rows[0]!.names} cascade`);
}
