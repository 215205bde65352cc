// @module-tag slow
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DelayedError } from 'bullmq';
import { Redis } from 'ioredis';
import { defineAgent, type RunRef } from 'lanefold';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { databaseOf } from '../../src/features/library/internals.ts';
import type { RunJob, QueueOptions, RunQueue } from '../../src/runs/queue/queue.ts';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';

const halfMinute = 30_000;
const day = 86_400_000;

describe.skipIf(noRedis())('in a queue', () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createDatabase()));
  afterAll(() => database?.drop());
  afterEach(() => void vi.useRealTimers());

  function open(options: Partial<QueueOptions> = {}): RunQueue {
    const redisUrl = queueBackend() === 'redis' ? inject('redisUrl') : undefined;
    const prefix = `t${randomBytes(4).toString('hex')}`;
    const queue = openQueue({ databaseUrl: database.url, redisUrl, prefix, ...options });
    onTestFinished(() => queue.close());
    return queue;
  }

  const settings = { concurrency: 1, name: 'w', lockMs: 60_000, stalledMs: 60_000 };

  test.each([-day, day])('every time is by the clock of the queue, %s ms from that of the process', async (aheadMs) => {
    const queue = open({ clock: { now: () => Date.now() + aheadMs } });
    const [taken, free, again, over] = [deferred(), deferred(), deferred(), deferred()];
    onTestFinished(() => free.resolve());
    const errors: unknown[] = [];
    const [worker] = await queue.work(
      async (job, token) => {
        if (job.attemptsStarted === 1) {
          taken.resolve();
          await free.promise;
          await job.moveToDelayed(Date.now() + 2 * day, token);
          again.resolve();
          throw new DelayedError();
        }
        return { status: 'completed' };
      },
      { ...settings, onError: (error) => errors.push(error) },
    );
    worker!.on('completed', () => over.resolve());
    const job = { thread_id: 't', run_id: 'r', enqueue_no: 1, agent: 'a' };
    const times = () => timesIn(database, queue.prefix);
    const expectNear = (found: [string, number][], expected: number) => {
      for (const [name, time] of found) expect([name, Math.abs(time - expected) < day / 2]).toEqual([name, true]);
    };
    await queue.addAll([{ ...job, queue_shard: 0, delay_ms: 1 }], 'back');

    await taken.promise;
    const active = await times();
    expect(active.length).toBeGreaterThan(0);
    expectNear(active, Date.now() + aheadMs);

    free.resolve();
    await again.promise;
    const due = (await times()).filter(([name]) => /delayed|process_at/.test(name));
    expect(due).toHaveLength(1);
    expectNear(due, Date.now() + aheadMs + 2 * day);
    expect(await queue.queues[0]!.getJobCounts('delayed')).toEqual({ delayed: 1 });

    await queue.wake({ ...job, queue: queue.queues[0]!.name });
    await over.promise;
    const ended = await times();
    expect(ended.map(([name]) => name)).toContain(queueBackend() === 'redis' ? 'finishedOn' : 'finished_at_ms');
    expectNear(ended, Date.now() + aheadMs);

    await queue.clean({ keepMs: 3_600_000, keep: 10 });
    expect(await queue.queues[0]!.getJobCounts('completed')).toEqual({ completed: 1 });
    await queue.clean({ keepMs: 0, keep: 10 });
    expect(await queue.queues[0]!.getJobCounts('completed')).toEqual({ completed: 0 });
    expect(errors).toEqual([]);
  });

  test('jobs that have ended are kept by number and by age, the last ones, of each kind', async () => {
    const queue = open();
    const [own] = queue.queues;
    // the clock stands but for the end of each job
    vi.useFakeTimers({ toFake: ['Date'] });
    await queue.work(
      async ({ data }) => {
        vi.setSystemTime(Date.now() + 1);
        if (data.agent === 'bad') throw new Error('bad');
        return { status: 'completed' };
      },
      { ...settings, onError: () => {} },
    );
    const jobs = Array.from({ length: 12 }, (_, n) => ({
      thread_id: 't',
      run_id: `r${n}`,
      enqueue_no: 1,
      agent: n % 3 ? 'good' : 'bad',
      queue_shard: 0,
    }));
    await queue.addAll(jobs, 'back');
    await until('all have ended', async () => {
      const { completed, failed } = await own!.getJobCounts('completed', 'failed');
      return completed === 8 && failed === 4;
    });
    const keep = async (kept: { keepMs: number; keep: number }) => {
      await queue.clean(kept);
      return own!.getJobCounts('completed', 'failed');
    };
    expect(await keep({ keepMs: 3_600_000, keep: 100 })).toEqual({ completed: 8, failed: 4 });
    expect(await keep({ keepMs: 3_600_000, keep: 3 })).toEqual({ completed: 3, failed: 3 });
    expect((await own!.getJobs(['completed'])).map(({ data }) => (data as RunJob).run_id)).toEqual([
      'r11',
      'r10',
      'r8',
    ]);
    expect(await keep({ keepMs: 3_600_000, keep: 3 })).toEqual({ completed: 3, failed: 3 });
    vi.setSystemTime(Date.now() + 1);
    expect(await keep({ keepMs: 0, keep: 3 })).toEqual({ completed: 0, failed: 0 });
  });
});

describe.skipIf(queueBackend() === 'redis')('only the clock of the database decides when a run is due', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
  });
  const others: ChildProcess[] = [];
  afterAll(async () => {
    await Promise.all(others.map(stopped));
    await lanefold?.close();
  });

  /** A process whose clock is wrong, once it has said something. */
  async function other(wrongMs: number, role: 'worker' | 'caller'): Promise<string> {
    const script = path.join(inject('packageDir'), 'dist/test/queue/fixtures/other-clock.js');
    const args = [script, `${wrongMs}`, role, JSON.stringify(lanefold.options)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    others.push(child);
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) return line;
    throw new Error('The process said nothing.');
  }

  test('a run starts in time, where a caller accepted it whose clock is ahead and a worker took it whose clock is behind', async () => {
    const [accepted] = await Promise.all([other(halfMinute, 'caller'), other(-halfMinute, 'worker')]);
    const { createdAt, startedAt } = await lanefold.runs.wait(JSON.parse(accepted) as RunRef);
    const late = startedAt!.getTime() - createdAt.getTime() - 1;
    expect(late).toBeGreaterThanOrEqual(0);
    // for a machine that is busy with others: a clock that decides is wrong by 30 s
    expect(late).toBeLessThan(20_000);
  });

  test('it tells whole milliseconds, as queues store them', () => {
    const { clock } = databaseOf(lanefold, 'A test').settings;
    const times = Array.from({ length: 20 }, () => clock.now());
    expect(times.map(Math.trunc)).toEqual(times);
  });
});

const stopped = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.stdin!.end();
  });

/** All times of the jobs of a queue, in ms, by the name of their field. */
async function timesIn({ pool }: TestDatabase, prefix: string): Promise<[string, number][]> {
  if (queueBackend() === 'postgres') {
    const { rows } = await pool.query('select * from bullmq.job where queue = $1', [`${prefix}-0`]);
    return Object.entries(rows[0] as object).flatMap(([name, value]) =>
      name.endsWith('_ms') && value !== null && name !== 'delay_ms' ? [[name, Number(value)]] : [],
    );
  }
  const redis = new Redis(inject('redisUrl')!);
  const base = `{${prefix}-0}:${prefix}-0`;
  const fields = await redis.hgetall(`${base}:r.1`);
  const scores = await Promise.all(
    ['delayed', 'completed'].map(async (set) => {
      const score = await redis.zscore(`${base}:${set}`, 'r.1');
      return score === null ? [] : [[set, Number(score) / (set === 'delayed' ? 0x1000 : 1)] as [string, number]];
    }),
  );
  redis.disconnect();
  const own = ['timestamp', 'processedOn', 'finishedOn'].flatMap((name): [string, number][] =>
    fields[name] === undefined ? [] : [[name, Number(fields[name])]],
  );
  return [...own, ...scores.flat()];
}
