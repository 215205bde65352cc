// @module-tag long
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const runs = 60;
const concurrency = 4;
/** Nothing is found by a sweep or because a lock expired. */
const patient = { leaseMs: 600_000, sweepMs: 600_000, concurrency };

describe('a worker that reaches the queue but not the database', () => {
  let front: TestLanefold;
  let back: Lanefold;
  let database: Outage;
  beforeAll(async () => {
    front = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
    database = await startOutage(front.database.url);
    back = await createLanefold({ ...front.options, databaseUrl: database.url, directUrl: front.database.url });
  });
  afterAll(async () => {
    database?.end();
    await back?.close();
    await front?.close();
    await database?.close();
  });

  test('delays its jobs, takes no others, and continues when the database answers', async () => {
    const accepted = await Promise.all(
      Array.from({ length: runs }, (_, i) => front.runs.enqueue({ agent: 'a', input: `run ${i}` })),
    );
    database.refuse();
    const errors: unknown[] = [];
    await back.startWorker({ ...patient, onError: (error) => errors.push(error) });
    await until('claims fail', () => errors.length >= concurrency);
    const [queue] = front.queues;
    await until('the jobs are delayed', async () => {
      const counts = await queue!.getJobCounts('active', 'delayed', 'failed');
      return counts['active'] === 0 && counts['delayed']! + counts['failed']! > 0;
    });
    expect(await queue!.getJobCounts('failed')).toEqual({ failed: 0 });
    // besides the claims, what a worker looks for when it starts fails too
    expect(errors.length).toBeLessThan(4 * concurrency);
    database.end();
    for (const run of accepted) expect(await front.runs.wait(run)).toMatchObject({ status: 'completed' });
    const { rows } = await front.database.pool.query('select distinct enqueue_no from lanefold._run');
    expect(rows).toEqual([{ enqueue_no: 1 }]);
    await expectSound(front, accepted[0]!.threadId);
  });
});
