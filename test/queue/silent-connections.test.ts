import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listen } from '../../src/database/postgres/listen.ts';
import { openQueue } from '../../src/runs/queue/open-queue.ts';
import type { RunQueue } from '../../src/runs/queue/queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { listenFor } from '../support/listen.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { until } from '../support/until.ts';

const limitMs = 1_500;

describe.skipIf(noRedis())('connections that go silent while new ones work', () => {
  let database: TestDatabase;
  let outage: Outage;
  let near: RunQueue;
  let far: RunQueue;
  beforeAll(async () => {
    database = await createDatabase();
    const redis = queueBackend() === 'redis';
    outage = await startOutage(redis ? inject('redisUrl') : database.url);
    const options = { databaseUrl: database.url, prefix: `t${randomBytes(4).toString('hex')}` };
    near = openQueue({ ...options, redisUrl: redis ? inject('redisUrl') : undefined });
    far = openQueue({
      ...options,
      ...(redis ? { redisUrl: outage.url } : { databaseUrl: outage.url }),
      limitMs,
    });
    await Promise.all([near.ready(), far.ready()]);
  });
  afterAll(async () => {
    outage?.end();
    await far?.close();
    await near?.obliterate();
    await near?.close();
    await outage?.close();
    await database?.drop();
  });

  const add = (queue: RunQueue, id: string) => queue.add({ thread_id: 't', run_id: id, enqueue_no: 1, agent: 'a' }, 0);

  test('are replaced: the worker takes jobs again, and the queue adds them', async () => {
    const done: string[] = [];
    const options = { concurrency: 2, name: 'w', lockMs: 60_000, stalledMs: 500, onError: () => {} };
    await far.work(async (job) => {
      done.push(job.data.run_id);
      return { status: 'completed' };
    }, options);
    await add(near, 'first');
    await until('the job is taken', () => done.includes('first'));
    await add(far, 'second');
    await until('the worker is idle', async () => {
      const { completed } = await near.queues[0]!.getJobCounts('completed');
      return completed === 2;
    });
    outage.swallow();
    await add(near, 'third');
    await until('the next job is taken', () => done.includes('third'));
    await until('the queue adds jobs', () =>
      add(far, 'fourth').then(
        () => true,
        () => false,
      ),
    );
    await until('the last job is taken', () => done.includes('fourth'));
    expect(done).toEqual(['first', 'second', 'third', 'fourth']);
  });

  test.skipIf(queueBackend() === 'redis')('are replaced: LISTEN wakes up again', async () => {
    const heard: (string | undefined)[] = [];
    const listener = listen(outage.url, { note: (payload) => heard.push(payload) }, limitMs);
    await until('it listens', () => heard.length === 1);
    outage.swallow();
    await until('it listens again', () => heard.length === 2);
    await database.pool.query(`select pg_notify('note', 'hello')`);
    await until('it hears', () => heard.length === 3);
    expect(heard).toEqual([undefined, undefined, 'hello']);
    await listener.close();
  });
});

test.skipIf(noRedis())('a queue whose server is not there says so with queue_unreachable', async () => {
  const server = net.createServer();
  const url = await listenFor(server, 'redis://127.0.0.1');
  await new Promise((resolve) => server.close(resolve));
  const servers =
    queueBackend() === 'redis' ? { redisUrl: url, databaseUrl: '' } : { databaseUrl: url.replace('redis', 'postgres') };
  const queue = openQueue({ ...servers, prefix: 'nowhere' });
  await expect(queue.ready()).rejects.toMatchObject({ code: 'queue_unreachable' });
  await queue.close();
});
