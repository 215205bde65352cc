// @module-tag slow
import { createLanefold, defineAgent, type EnqueueOptions, type Lanefold, type RunHandle } from 'lanefold';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { citusLacks } from '../../support/citus-lacks.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { expectSound } from '../../support/log.ts';
import { functionsIn } from '../../support/statements.ts';
import { typedModel, type TypedModel } from '../../support/typed-model.ts';
import { until } from '../../support/until.ts';

/** The statements that write a run or its job. */
const counted = /^(enqueue_run|claim_run|commit_step)$|\bmove_to_(?:completed|failed)\w*|\badd_job\b/;

describe.skipIf(noRedis() || citusLacks.directStarts)('a run accepted by a process with a free worker', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const agents = [
      defineAgent({ name: 'typist', model: 'typed:m', instructions: 'Be kind.' }),
      defineAgent({ name: 'echo', model: 'scripted:echo' }),
    ];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    // slots to spare: the job of an earlier run may still occupy one for a moment
    await lanefold.startWorker({ concurrency: 4 });
  });
  afterAll(() => lanefold?.close());
  afterEach(() => void vi.restoreAllMocks());

  /** The worker starts runs at once when it has found the queue empty. */
  const idle = (some: Lanefold = lanefold) =>
    until('the worker waits for jobs', async () => {
      const run = await some.runs.enqueue({ agent: 'echo', input: 'go' });
      await some.runs.wait(run);
      await until('its job has ended', async () => (await (await jobOf(run, some))?.getState()) === 'completed');
      return run.status === 'running';
    });
  const ask = (more: Partial<EnqueueOptions> = {}) => lanefold.runs.enqueue({ agent: 'typist', input: 'go', ...more });
  const jobOf = (run: RunHandle, some: Lanefold = lanefold) => some.queues[0]!.getJob(`${run.id}.1`);
  const answer = async (text: string) => {
    const keyboard = await model.next();
    keyboard.type(text);
    keyboard.stop();
  };
  /** A run that its own process starts: a worker that happens to look for jobs has no free place for it. */
  const atOnce = (request: () => Promise<RunHandle>, some: Lanefold = lanefold) =>
    until('a run is started at once', async () => {
      await idle(some);
      const run = await request();
      if (run.status === 'running') return run;
      await answer('Late.');
      await some.runs.wait(run);
      return undefined;
    });
  const completed = async (run: RunHandle, result: string) => {
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result });
    await expectSound(lanefold, run.threadId);
  };

  test('needs a statement to start and one per step, and no other of the queue than the end of its job', async () => {
    const sent: string[] = [];
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const { text = '' } = args[0] as { text?: string };
      for (const name of [...functionsIn(args[0]), text]) sent.push(...(counted.exec(name)?.slice(0, 1) ?? []));
      return query.apply(this, args) as never;
    });
    const run = await atOnce(() => {
      sent.length = 0;
      return ask();
    });
    await answer('Done.');
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done.' });
    const ofQueue = queueBackend() === 'postgres' ? ['move_to_completed'] : [];
    await until('its job has ended', () => sent.length >= 2 + ofQueue.length);
    expect(sent).toEqual(['enqueue_run', 'commit_step', ...ofQueue]);
  });

  test('has a job like any other', async () => {
    await idle();
    const run = await ask();
    const keyboard = await model.next();
    await until('the job is active', async () => (await (await jobOf(run))?.getState()) === 'active');
    keyboard.type('Done.');
    keyboard.stop();
    await completed(run, 'Done.');
    await until('the job is completed', async () => (await (await jobOf(run))!.getState()) === 'completed');
    expect(await jobOf(run)).toMatchObject({
      name: 'run',
      data: { thread_id: run.threadId, run_id: run.id, enqueue_no: 1, agent: 'typist' },
      returnvalue: { status: 'completed', iterations: 1 },
    });
  });

  test('continues a thread', async () => {
    await idle();
    const first = await ask();
    await answer('One.');
    await completed(first, 'One.');
    const second = await atOnce(() => ask({ threadId: first.threadId }));
    await answer('Two.');
    await completed(second, 'Two.');
  });

  test('fails like any other, and its job with it', async () => {
    await idle();
    const run = await ask();
    (await model.next()).fail(Object.assign(new Error('refused'), { statusCode: 400 }));
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'failed' });
    await until('the job has failed', async () => (await (await jobOf(run))?.getState()) === 'failed');
  });

  test('goes through the queue if it waits for its turn', async () => {
    await idle();
    for (const more of [{ delayMs: 1 }, { priority: 1 }]) {
      const run = await ask(more);
      expect(run.status, JSON.stringify(more)).toBe('queued');
      await answer('Later.');
      await completed(run, 'Later.');
      await idle();
    }
  });

  test('goes through the queue if every slot of the worker is taken', async () => {
    const other = await startWith(lanefold, 2, `${lanefold.options.queuePrefix}-alone`);
    await idle(other.lanefold);
    const runs = [];
    for (let n = 0; n < 4; n++) runs.push(await other.lanefold.runs.enqueue({ agent: 'typist', input: 'go' }));
    expect(runs.filter(({ status }) => status === 'running').length).toBeLessThanOrEqual(2);
    await until('both slots are taken', () => other.worker.active === 2);
    for (const _ of runs) {
      await answer('Done.');
      expect(other.worker.active).toBeLessThanOrEqual(2);
    }
    for (const run of runs) expect(await other.lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    await other.lanefold.close();
  });

  test.each([
    ['is paused', () => lanefold.queues[0]!.pause(), () => lanefold.queues[0]!.resume()],
    [
      'has a global limit',
      () => lanefold.queues[0]!.setGlobalConcurrency(1),
      () => lanefold.queues[0]!.removeGlobalConcurrency(),
    ],
  ])('goes through the queue if that %s', async (_, limit, lift) => {
    await idle();
    await limit();
    // on Redis, it counts for a moment that the queue was open
    const run = await until('a run is queued', async () => {
      const one = await ask();
      if (one.status === 'queued') return one;
      await answer('Done.');
      await completed(one, 'Done.');
      return undefined;
    });
    await lift();
    await answer('Done.');
    await completed(run, 'Done.');
  });

  test('is given back if the process stops', async () => {
    const other = await startWith(lanefold, 2);
    const run = await atOnce(() => other.lanefold.runs.enqueue({ agent: 'typist', input: 'go' }), other.lanefold);
    await model.next();
    expect(await other.worker.stop({ graceMs: 0 })).toEqual({ released: 1 });
    await answer('Done.');
    await completed(run, 'Done.');
    await other.lanefold.close();
  });

  test('is started by a worker with one slot, again and again', async () => {
    const other = await startWith(lanefold, 1);
    for (let n = 0; n < 3; n++) await idle(other.lanefold);
    await other.lanefold.close();
  });

  test('is the same for a tenant', async () => {
    const tenant = lanefold.forTenant('acme');
    const run = await atOnce(() => tenant.runs.enqueue({ agent: 'typist', input: 'go' }));
    await answer('Done.');
    expect(await tenant.runs.wait(run)).toMatchObject({ status: 'completed' });
  });

  test.skipIf(queueBackend() === 'redis')('leaves the same job as one that a worker took from the queue', async () => {
    const { pool } = lanefold.database;
    const queue = 'canary';
    const [direct, taken] = ['direct', 'taken'];
    const request = (id: string) => ({ run_id: id, agent: 'a', job_queue: queue });
    const client = await pool.connect();
    try {
      await client.query('begin');
      const claim = { worker_id: 'w', job_token: 'token', job_lock_ms: 1_000 };
      await client.query('select lanefold._add_taken_job($1, $2, $3)', ['t', direct, { ...request(direct), claim }]);
      await client.query('select lanefold._add_job($1, $2, 1, $3)', ['t', taken, request(taken)]);
      await client.query(
        `select bullmq.move_to_active($1, 'token', 1000, (extract(epoch from lanefold._now()) * 1000)::bigint, 'w', null, null)`,
        [queue],
      );
      const { rows } = await client.query<Record<string, unknown>>(
        'select to_jsonb(j) as job from bullmq.job j where queue = $1 order by id',
        [queue],
      );
      const alike = rows.map(({ job }) => {
        const { seq, added_at_ms, processed_at_ms, locked_until_ms, ...rest } = job as Record<string, number>;
        expect([added_at_ms! <= processed_at_ms!, locked_until_ms! - processed_at_ms!, seq! > 0]).toEqual([
          true,
          1_000,
          true,
        ]);
        return JSON.parse(JSON.stringify(rest).replaceAll(taken, direct)) as unknown;
      });
      expect(alike[0], 'BullMQ keeps a job in another way: see _add_taken_job in db/sql/run/add_job.sql').toEqual(
        alike[1],
      );
      const { rows: events } = await client.query<{ event: string; data: object }>(
        'select event, data from bullmq.event where queue = $1 order by id',
        [queue],
      );
      const of = (id: string) => events.filter(({ data }) => JSON.stringify(data).includes(`${id}.1`));
      const rename = (list: object[]) => JSON.parse(JSON.stringify(list).replaceAll(taken, direct)) as unknown;
      expect(rename(of(taken).filter(({ event }) => event !== 'waiting'))).toEqual(of(direct));
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

/** Another process with a worker, on the same queue or on one of its own. */
async function startWith(lanefold: TestLanefold, concurrency: number, queuePrefix = lanefold.options.queuePrefix!) {
  const other = await createLanefold({ ...lanefold.options, queuePrefix });
  return { lanefold: other, worker: await other.startWorker({ concurrency }) };
}
