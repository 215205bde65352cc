// @module-tag slow
import { createLanefold, defineAgent, type Lanefold, type RunningWorker } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../../support/lanefold.ts';
import { startOutage, type Outage } from '../../support/outage.ts';
import { until } from '../../support/until.ts';

describe.skipIf(noRedis())('the health of a worker', () => {
  let front: TestLanefold;
  let back: Lanefold;
  let worker: RunningWorker;
  let database: Outage;
  let queue: Outage;
  beforeAll(async () => {
    front = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
    const redis = queueBackend() === 'redis';
    database = await startOutage(front.database.url);
    queue = await startOutage(redis ? inject('redisUrl') : front.database.url);
    back = await createLanefold({
      ...front.options,
      databaseUrl: database.url,
      directUrl: redis ? front.database.url : queue.url,
      redisUrl: redis ? queue.url : null,
    });
    worker = await back.startWorker({ leaseMs: 1_500, onError: () => {} });
  });
  afterAll(async () => {
    database?.end();
    queue?.end();
    await back?.close();
    await front?.close();
    await database?.close();
    await queue?.close();
  });

  const ready = () => until('the worker is ready', async () => (await worker.health()).ready);
  const hasReasons = (...reasons: string[]) =>
    until(`the reasons are ${reasons.join()}`, async () => {
      const found = await worker.health();
      return !found.ready && found.reasons.join() === reasons.join();
    });

  test('says that the database does not answer, and that leases are not renewed', async () => {
    await ready();
    database.begin();
    await hasReasons('database', 'leases');
    database.end();
    await ready();
  });

  test('says that the queue does not answer until its silent connections are replaced and jobs are taken again', async () => {
    await ready();
    queue.swallow();
    await hasReasons('queue');
    const run = await front.runs.enqueue({ agent: 'a', input: 'hi' });
    expect(await front.runs.wait(run)).toMatchObject({ status: 'completed' });
    await ready();
  });

  test('says that it is stopping', async () => {
    await worker.stop();
    expect((await worker.health()).reasons).toContain('stopping');
  });
});
