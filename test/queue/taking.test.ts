// @module-tag slow
import { createPostgresBackend, withBackend, type Job } from 'bullmq';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { GatheringPool } from '../../src/runs/queue/gathering-pool.ts';
import { Looks, takeJobs } from '../../src/runs/queue/taking/known-queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { deferred, until } from '../support/until.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);
type BullWorker = InstanceType<typeof Worker>;
/** Set while a worker waits for a job to be added. */
type Inside = { waiting: unknown };

let database: TestDatabase;
const pools: pg.Pool[] = [];
beforeAll(async () => void (database = await createDatabase()));
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database?.drop();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const options = '-c search_path="bullmq"';
const poolOf = (Pool: new (config: pg.PoolConfig) => pg.Pool = GatheringPool): pg.Pool => {
  const pool = new Pool({ connectionString: database.url, options, max: 6 });
  pool.on('error', () => {});
  pools.push(pool);
  return pool;
};

function queueOf(name: string, connection = poolOf()) {
  const queue = new Queue(name, { connection: connection as never });
  const closing: { close(): Promise<void> }[] = [queue];
  onTestFinished(async () => void (await Promise.all(closing.map((one) => one.close()))));
  return {
    queue,
    /** Takes jobs only when asked. */
    hand() {
      const worker = new Worker(name, null, { connection: connection as never, autorun: false, lockDuration: 60_000 });
      closing.push(worker);
      return worker;
    },
    /** Takes jobs by itself, over connections of its own. */
    worker(process: (job: Job) => Promise<unknown>, more = {}) {
      const own = { connection: poolOf() as never, drainDelay: 1, skipStalledCheck: true, ...more };
      const worker = new Worker(name, process, own);
      worker.on('error', () => {});
      closing.push(worker);
      return worker;
    },
  };
}

const only = { floor: () => vi.spyOn(Looks.prototype, 'begin').mockReturnValue(false) };
const take = (worker: BullWorker, token = 'token') => worker.getNextJob(token, { block: false });
const names = async (worker: BullWorker, count: number) => {
  const taken = [];
  for (let n = 0; n < count; n++) taken.push((await take(worker))?.name);
  return taken;
};

/** The statements that a pool sends to the server, with their values. */
function watch() {
  const sent: { text: string; values: unknown[] }[] = [];
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (Array.isArray(args[1])) sent.push({ text: String(args[0]), values: args[1] });
    return query.apply(this, args) as never;
  });
  return sent;
}

describe('a job taken from the floor', () => {
  test.each(['completed', 'failed'] as const)('is the same as one taken and %s by BullMQ', async (outcome) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    only.floor();
    const left = async (name: string, connection: pg.Pool) => {
      const { queue, hand } = queueOf(name, connection);
      for (const [n, lifo] of [false, false, true, false].entries())
        await queue.add(`job${n}`, { n }, { jobId: `id-${n}`, attempts: 1, lifo });
      const worker = hand();
      const given: unknown[] = [];
      const note = (job: Job | undefined) => given.push(job && { ...job.asJSON(), processedBy: job.processedBy });
      const first = (await take(worker))!;
      note(first);
      const end = (job: Job, fetches: boolean) =>
        outcome === 'completed'
          ? job.moveToCompleted({ n: 1, text: 'é"\\' }, 'token', fetches)
          : job.moveToFailed(new Error(`failed ${job.id}`), 'token', fetches);
      // the stack names lines of this file
      vi.spyOn(first as unknown as { updateStacktrace(): void }, 'updateStacktrace').mockImplementation(() => {});
      given.push(await end(first, true));
      const second = (await take(worker))!;
      note(second);
      vi.spyOn(second as unknown as { updateStacktrace(): void }, 'updateStacktrace').mockImplementation(() => {});
      given.push((await end(second, false)) ?? null);
      const { rows: jobs } = await database.pool.query<{ job: Record<string, unknown> }>(
        `select to_jsonb(j) - 'queue' - 'seq' as job from bullmq.job j where queue = $1 order by id`,
        [name],
      );
      const { rows: events } = await database.pool.query(
        `select event, data from bullmq.event where queue = $1 and event <> 'drained' order by id`,
        [name],
      );
      return { given, jobs: jobs.map(({ job }) => job), events };
    };
    const theirs = await left(`theirs-${outcome}`, poolOf(pg.Pool));
    const sent = watch();
    const ours = await left(`ours-${outcome}`, poolOf());
    expect(sent.filter(({ text }) => text === takeJobs)).toHaveLength(2);
    expect(sent.filter(({ text }) => /\bmove_to_\w+\(/.test(text))).toEqual([]);
    expect(ours).toEqual(theirs);
    expect(theirs.jobs.map(({ state }) => state)).toEqual([outcome, 'active', outcome, 'waiting'].sort());
  });

  test('comes in the order of BullMQ: the front first, the last added there first, then by age', async () => {
    const add = async (name: string, connection: pg.Pool) => {
      const { queue, hand } = queueOf(name, connection);
      for (const [n, lifo] of [0, 1, 0, 1, 0, 0].entries()) await queue.add(`${n}`, {}, { lifo: lifo === 1 });
      return hand();
    };
    const theirs = await names(await add('order-theirs', poolOf(pg.Pool)), 7);
    only.floor();
    expect(theirs).toEqual(['3', '1', '0', '2', '4', '5', undefined]);
    expect(await names(await add('order-ours', poolOf()), 7)).toEqual(theirs);
  });

  test('is answered as BullMQ answers, whether or when one waits', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const ask = async (name: string, connection: pg.Pool) => {
      const { queue } = queueOf(name, connection);
      const answers: unknown[] = [];
      const note = async () => {
        for (const [text, values] of Object.entries({
          'SELECT next_delay($1) AS next_delay;': [name],
          'SELECT rate_limit_ttl, next_delay FROM next_signal($1, $2, $3);': [name, null, Date.now()],
        })) {
          answers.push((await connection.query(text, values)).rows[0]);
        }
      };
      await note();
      await queue.add('later', {}, { delay: 60_000, jobId: 'later-1' });
      await note();
      await queue.add('sooner', {}, { delay: 30_000, jobId: 'sooner-1' });
      await note();
      await queue.setGlobalRateLimit(1, 1_000);
      await queue.rateLimit(1_000);
      await note();
      const read = (row: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value === null ? null : Number(value)]));
      return answers.map((row) => read(row as Record<string, unknown>));
    };
    expect(await ask('answers-ours', poolOf())).toEqual(await ask('answers-theirs', poolOf(pg.Pool)));
  });
});

describe('what only BullMQ can decide', () => {
  test('a queue that is paused gives no job', async () => {
    only.floor();
    const { queue, hand } = queueOf('paused');
    const worker = hand();
    await queue.add('first', {});
    await queue.pause();
    expect(await take(worker)).toBeUndefined();
    await queue.resume();
    expect((await take(worker))?.name).toBe('first');
  });

  test('a global limit of the jobs at a time holds', async () => {
    only.floor();
    const { queue, hand } = queueOf('at-a-time');
    const worker = hand();
    await queue.setGlobalConcurrency(2);
    await queue.addBulk(Array.from({ length: 4 }, (_, n) => ({ name: `${n}`, data: {} })));
    const first = (await take(worker))!;
    expect((await take(worker))?.name).toBe('1');
    expect(await take(worker)).toBeUndefined();
    const [next] = (await first.moveToCompleted({}, 'token', true)) as [{ name: string }];
    expect(next.name).toBe('2');
    expect(await take(worker)).toBeUndefined();
    await queue.removeGlobalConcurrency();
    expect((await take(worker))?.name).toBe('3');
  });

  test('a global limit of the jobs in a time holds, and every job counts', async () => {
    only.floor();
    const { queue, hand } = queueOf('in-a-time');
    const worker = hand();
    await queue.setGlobalRateLimit(2, 3_600_000);
    await queue.addBulk(Array.from({ length: 3 }, (_, n) => ({ name: `${n}`, data: {} })));
    expect(await names(worker, 3)).toEqual(['0', '1', undefined]);
    const { rows } = await database.pool.query(`select points from bullmq.rate_limit where queue = 'in-a-time'`);
    expect(rows).toEqual([{ points: '2' }]);
  });

  test('a limit of the worker holds', async () => {
    const { queue, worker } = queueOf('of-the-worker');
    const done: string[] = [];
    await queue.addBulk(Array.from({ length: 3 }, (_, n) => ({ name: `${n}`, data: {} })));
    worker(async ({ name }) => void done.push(name), {
      limiter: { max: 2, duration: 3_600_000 },
      maximumRateLimitDelay: 50,
    });
    await until('the limit is reached', async () => (await queue.getRateLimitTtl(2)) > 0 && done.length === 2);
    expect(await queue.getJobCountByTypes('waiting')).toBe(1);
  });
});

describe('jobs that a search from the floor does not find', () => {
  test('with a priority come when no other waits, by priority and age', async () => {
    const { queue, worker } = queueOf('prioritized');
    const done: string[] = [];
    await queue.pause();
    for (const [name, priority] of Object.entries({ d: 2, e: 2, c: 1, a: 0, b: 0 }))
      await queue.add(name, {}, { priority });
    worker(async ({ name }) => void done.push(name));
    await queue.resume();
    await until('all are done', () => done.length === 5);
    expect(done).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('that are delayed come when they are due, many at a time', async () => {
    const { queue, worker } = queueOf('delayed');
    const done: string[] = [];
    worker(async ({ name }) => void done.push(name), { concurrency: 3 });
    await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: `${n}`, data: {}, opts: { delay: 1 + n } })));
    await queue.add('now', {});
    await until('all are done', () => done.length === 21);
    await until('none is left', async () => (await queue.getJobCountByTypes('delayed', 'waiting', 'active')) === 0);
  });

  /** Has a worker of the queue move its floor above every job so far. */
  const above = async (queue: InstanceType<typeof Queue>, sent: { text: string; values: unknown[] }[]) => {
    const { rows } = await database.pool.query<{ last: number }>('select last_value::int as last from bullmq.job_seq');
    await until('the floor is above', async () => {
      await queue.add('step', {});
      return sent.some(({ values }) => Number(values.at(-1)) > rows[0]!.last && values.length === 2);
    });
  };

  test('because their transaction took long come soon after it commits', async () => {
    const { queue, worker } = queueOf('late');
    const sent = watch();
    const done: string[] = [];
    const slow = await database.pool.connect();
    await slow.query('begin');
    await slow.query(
      `select bullmq.add_job('late', 'slow-1', 'slow', '{}', '{}', 0, 0, 0, 1, null, null, null, null, null, false)`,
    );
    worker(async ({ name }) => void done.push(name));
    await above(queue, sent);
    expect(done).not.toContain('slow');
    await slow.query('commit');
    slow.release();
    await until('it is done', () => done.includes('slow'));
  });

  test('because another worker held and lost them come without a notification', async () => {
    const { queue, worker } = queueOf('let-go');
    const sent = watch();
    const done: string[] = [];
    await queue.add('held', {}, { jobId: 'held-1' });
    const other = await database.pool.connect();
    await other.query('begin');
    await other.query(`select from bullmq.job where queue = 'let-go' for update`);
    worker(async ({ name }) => void done.push(name));
    await above(queue, sent);
    expect(done).not.toContain('held');
    await other.query('rollback');
    other.release();
    await until('it is done', () => done.includes('held'));
  });

  test('come while others never stop coming', async () => {
    const { queue, worker } = queueOf('busy');
    const sent = watch();
    const done: string[] = [];
    const slow = await database.pool.connect();
    await slow.query('begin');
    await slow.query(
      `select bullmq.add_job('busy', 'slow-1', 'slow', '{}', '{}', 0, 0, 0, 1, null, null, null, null, null, false)`,
    );
    let adding = true;
    worker(
      async ({ name }) => {
        done.push(name);
        if (name === 'again' && adding) await queue.add('again', {});
      },
      { concurrency: 2 },
    );
    await queue.addBulk(Array.from({ length: 6 }, () => ({ name: 'again', data: {} })));
    await above(queue, sent);
    await slow.query('commit');
    slow.release();
    await until('it is done', () => done.includes('slow'));
    adding = false;
    await until('all are done', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0);
  });
});

test('an idle worker takes a new job from the floor, however long the next look is put off', async () => {
  const { queue, worker } = queueOf('idle');
  const done: string[] = [];
  const bull = worker(async ({ name }) => void done.push(name));
  await queue.add('first', {});
  await until('the worker waits', () => done.length === 1 && Boolean((bull as unknown as Inside).waiting));
  only.floor();
  await queue.add('second', {});
  await until('it is done', () => done.includes('second'));
});

test('a worker that dies with a job taken from the floor leaves it to another', async () => {
  only.floor();
  const { queue, hand } = queueOf('died');
  await queue.add('job', {});
  expect((await take(hand()))?.name).toBe('job');
  const stalled = (at: number) =>
    database.pool.query(`select * from bullmq.move_stalled_jobs_to_wait('died', 10, $1, 1)`, [at]);
  await stalled(Date.now());
  await stalled(Date.now() + 60_001);
  expect(await take(hand())).toMatchObject({ name: 'job', attemptsStarted: 2, stalledCounter: 1 });
});

describe('the question whether a job waits', () => {
  const text = `SELECT\n  EXISTS(\n    SELECT 1 FROM job WHERE queue = $1 AND state = 'waiting'\n  ) AS present;`;
  const ask = async (pool: pg.Pool, queue: string) =>
    (await pool.query<{ present: boolean }>(text, [queue])).rows[0]!.present;

  test('occupies no connection and does not keep the pool open while it waits for a look', async () => {
    vi.spyOn(Looks.prototype, 'dueInMs', 'get').mockReturnValue(3_600_000);
    only.floor();
    const pool = new GatheringPool({ connectionString: database.url, options, max: 1 });
    const asked = deferred<boolean>();
    void ask(pool, 'nothing').then(asked.resolve, asked.reject);
    await expect(pool.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
    await pool.end();
  });

  test('is answered by a look, and the next time by telling the worker to take', async () => {
    const pool = poolOf();
    const worker = queueOf('asking', pool).hand();
    for (let n = 0; n < 2; n++) {
      await until('a look has taken nothing', async () => {
        const looks = vi.spyOn(Looks.prototype, 'take');
        expect(await take(worker)).toBeUndefined();
        return looks.mock.calls.length > 0;
      });
      expect([await ask(pool, 'asking'), await ask(pool, 'asking')]).toEqual([false, true]);
    }
  });

  test('is yes for jobs that only a look finds, and for delayed ones that are due', async () => {
    const pool = poolOf();
    const { queue, hand } = queueOf('asking-others', pool);
    const worker = hand();
    for (const options of [{ priority: 1 }, { delay: 1 }]) {
      expect(await take(worker)).toBeUndefined();
      await queue.add('job', {}, options);
      await until('the answer is yes', () => ask(pool, 'asking-others'));
      await until('the job is taken', () => take(worker));
    }
  });
});

test('a take reads as much after ten thousand jobs as after none, while a transaction keeps its snapshot', async () => {
  const { pool } = database;
  const holder = await pool.connect();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select 1');
  const client = await poolOf(pg.Pool).connect();
  const queue = 'held';
  const end = async (from: number, count: number) => {
    const ids = [queue, from, from + count - 1];
    await client.query(
      `insert into job (queue, id, seq, name, state, added_at_ms)
       select $1, 'h-' || n, nextval('job_seq'), 'run', 'waiting', 0 from generate_series($2::int, $3::int) n`,
      ids,
    );
    for (const state of ['active', 'completed'])
      await client.query(
        `update job set state = '${state}' where queue = $1 and id in (select 'h-' || n from generate_series($2::int, $3::int) n)`,
        ids,
      );
  };
  const pagesRead = async (text: string, values: unknown[]): Promise<number> => {
    await client.query('begin');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    await client.query('rollback');
    const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
  };
  const args = [queue, 'token', 1_000, 0, 'w', null, null];
  const both = async () => {
    const { rows } = await client.query<{ last: string }>('select last_value as last from job_seq');
    await client.query('analyze job');
    // both plan once, which reads the catalog
    for (let n = 0; n < 2; n++) await pagesRead(takeJobs, [JSON.stringify([args]), rows[0]!.last]);
    return {
      ours: await pagesRead(takeJobs, [JSON.stringify([args]), rows[0]!.last]),
      theirs: await pagesRead('select * from move_to_active($1, $2, $3, $4, $5, $6, $7)', args),
    };
  };
  await client.query('set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off');
  await end(0, 100);
  const before = await both();
  await end(100, 10_000);
  const after = await both();
  await holder.query('rollback');
  holder.release();
  client.release();
  expect(after.theirs).toBeGreaterThan(before.theirs + 100);
  expect(after.ours).toBeLessThan(before.ours + 20);
});
