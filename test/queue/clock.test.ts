import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DelayedError } from 'bullmq';
import { Redis } from 'ioredis';
import { defineAgent, type RunRef } from 'lanefold';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { databaseOf } from '../../src/library/database-of.ts';
import { openQueue } from '../../src/queue/open-queue.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred } from '../support/until.ts';

const halfMinute = 30_000;
const day = 86_400_000;
const script = path.join(inject('packageDir'), 'dist/test/queue/fixtures/other-clock.js');

describe.skipIf(noRedis())('only the clock of the database decides when a run is due', () => {
  let lanefold: TestLanefold;
  beforeEach(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
  });
  const others: ChildProcess[] = [];
  afterEach(async () => {
    await Promise.all(others.splice(0).map(stopped));
    await lanefold?.close();
  });

  /** A process whose clock is wrong, once it has said something. */
  async function other(wrongMs: number, role: 'worker' | 'caller'): Promise<string> {
    const args = [script, `${wrongMs}`, role, JSON.stringify(lanefold.options)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    others.push(child);
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) return line;
    throw new Error('The process said nothing.');
  }

  /** How late the run was started, by the times of the database. */
  async function lateness(run: RunRef, delayMs: number): Promise<number> {
    const { createdAt, startedAt } = await lanefold.runs.wait(run);
    return startedAt!.getTime() - createdAt.getTime() - delayMs;
  }

  // 20 s for a machine that is busy with others: a clock that decides is wrong by 30 s
  test.each([-halfMinute, halfMinute])('a worker whose clock is wrong by %s ms starts it in time', async (wrongMs) => {
    await other(wrongMs, 'worker');
    const late = await lateness(await lanefold.runs.enqueue({ agent: 'a', input: 'Hello', delayMs: 1 }), 1);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(20_000);
  });

  test.each([-halfMinute, halfMinute])(
    'also if a caller accepted it whose clock is wrong by %s ms',
    async (wrongMs) => {
      await lanefold.startWorker();
      const late = await lateness(JSON.parse(await other(wrongMs, 'caller')) as RunRef, 1);
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(20_000);
    },
  );

  test('it tells whole milliseconds, as queues store them', () => {
    const { clock } = databaseOf(lanefold, 'A test').settings;
    const times = Array.from({ length: 20 }, () => clock.now());
    expect(times.map(Math.trunc)).toEqual(times);
  });

  test('every time in the queue is by the clock of the queue', async () => {
    const { options, databaseUrl } = lanefold;
    const startedAt = Date.now() + day;
    const queue = openQueue({
      ...{ redisUrl: options.redisUrl ?? undefined, databaseUrl, prefix: 'times' },
      clock: { now: () => Date.now() + day },
    });
    onTestFinished(() => queue.close());
    const [taken, free, again, over] = [deferred(), deferred(), deferred(), deferred()];
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
      { concurrency: 1, name: 'w', lockMs: 60_000, stalledMs: 60_000, onError: () => {} },
    );
    worker!.on('completed', () => over.resolve());
    const job = { thread_id: 't', run_id: 'r', enqueue_no: 1, agent: 'a' };
    await queue.addAll([{ ...job, queue_shard: 0, delay_ms: 1 }], 'back');

    await taken.promise;
    const active = await timesIn(lanefold, 'times');
    expect(active.length).toBeGreaterThan(0);
    for (const [name, time] of active) expect([name, time >= startedAt]).toEqual([name, true]);

    free.resolve();
    await again.promise;
    const delayed = await timesIn(lanefold, 'times');
    const due = delayed.filter(([name]) => /delayed|process_at/.test(name)).map(([, time]) => time);
    expect(due).toHaveLength(1);
    expect(due[0]).toBeGreaterThanOrEqual(startedAt + 2 * day);

    await queue.wake({ ...job, queue: queue.queues[0]!.name });
    await over.promise;
    const ended = await timesIn(lanefold, 'times');
    const names = ended.map(([name]) => name);
    expect(names).toContain(queueBackend() === 'redis' ? 'finishedOn' : 'finished_at_ms');
    for (const [name, time] of ended) expect([name, time >= startedAt]).toEqual([name, true]);

    await queue.clean({ keepMs: 3_600_000, keep: 10 });
    expect(await queue.queues[0]!.getJobCounts('completed')).toEqual({ completed: 1 });
    await queue.clean({ keepMs: 0, keep: 10 });
    expect(await queue.queues[0]!.getJobCounts('completed')).toEqual({ completed: 0 });
  });
});

const stopped = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.stdin!.end();
  });

/** All times of the jobs of a queue, in ms, by the name of their field. */
async function timesIn({ options, databaseUrl }: TestLanefold, prefix: string): Promise<[string, number][]> {
  if (queueBackend() === 'postgres') {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query('select * from bullmq.job where queue = $1', [`${prefix}-0`]);
    await client.end();
    return Object.entries(rows[0] as object).flatMap(([name, value]) =>
      name.endsWith('_ms') && value !== null && name !== 'delay_ms' ? [[name, Number(value)]] : [],
    );
  }
  const redis = new Redis(options.redisUrl!);
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
