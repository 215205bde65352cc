import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RunJob } from '../../src/queue/job.ts';
import { openQueue } from '../../src/queue/open-queue.ts';
import type { RunQueue } from '../../src/queue/queue.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

describe.skipIf(noRedis())('jobs that have ended', () => {
  let lanefold: TestLanefold;
  let queue: RunQueue;
  beforeEach(async () => {
    lanefold = await startLanefold();
    queue = openQueue({
      redisUrl: lanefold.options.redisUrl ?? undefined,
      databaseUrl: lanefold.databaseUrl,
      prefix: lanefold.options.queuePrefix!,
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await queue?.close();
    await lanefold?.close();
  });

  test('are kept by number and by age, the last ones, of each kind', async () => {
    const own = queue.queues[0]!;
    const job = (n: number) => ({ thread_id: 't', run_id: `r${n}`, enqueue_no: 1, agent: n % 3 ? 'good' : 'bad' });
    // the clock stands but for the end of each job
    vi.useFakeTimers({ toFake: ['Date'] });
    await queue.work(
      async ({ data }) => {
        vi.setSystemTime(Date.now() + 1);
        if (data.agent === 'bad') throw new Error('bad');
        return { status: 'completed' };
      },
      { concurrency: 1, name: 'w', lockMs: 60_000, stalledMs: 60_000, onError: () => {} },
    );
    for (let n = 0; n < 30; n++) await queue.add(job(n), 0);
    await until('all have ended', async () => {
      const { completed, failed } = await own.getJobCounts('completed', 'failed');
      return completed === 20 && failed === 10;
    });
    const keep = async (kept: { keepMs: number; keep: number }) => {
      await queue.clean(kept);
      return own.getJobCounts('completed', 'failed');
    };
    expect(await keep({ keepMs: 3_600_000, keep: 100 })).toEqual({ completed: 20, failed: 10 });
    expect(await keep({ keepMs: 3_600_000, keep: 5 })).toEqual({ completed: 5, failed: 5 });
    expect((await own.getJobs(['completed'])).map(({ data }) => (data as RunJob).run_id)).toEqual([
      'r29',
      'r28',
      'r26',
      'r25',
      'r23',
    ]);
    expect(await keep({ keepMs: 3_600_000, keep: 5 })).toEqual({ completed: 5, failed: 5 });
    vi.setSystemTime(Date.now() + 1);
    expect(await keep({ keepMs: 0, keep: 5 })).toEqual({ completed: 0, failed: 0 });
  });
});
