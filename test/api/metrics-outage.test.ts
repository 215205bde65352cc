import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { noRedis, queueBackend } from '../support/lanefold.ts';
import { startOutage, type Outage } from '../support/outage.ts';
import { startApi, type Api } from './helpers.ts';

// On the PostgreSQL backend, the queue is unavailable only together with the database.
describe.skipIf(noRedis() || queueBackend() !== 'redis')('metrics while Redis is unavailable', () => {
  let api: Api;
  let redis: Outage;
  beforeAll(async () => {
    redis = await startOutage(inject('redisUrl'));
    api = await startApi({ worker: false, redisUrl: redis.url });
  });
  afterAll(async () => {
    redis?.end();
    await api?.close();
    await redis?.close();
  });

  const jobs = (text: string) => text.split('\n').filter((line) => line.startsWith('lanefold_queue_jobs{'));

  test('still count runs, and omit unknown numbers', async () => {
    await api.call('POST', '/v1/threads/m/runs', { agent: 'calc', input: 'x', create_thread: true });
    const before = await api.call('GET', '/metrics');
    expect(jobs(before.text).length).toBeGreaterThan(1);
    redis.begin();
    const away = await api.call('GET', '/metrics');
    expect(away).toMatchObject({ status: 200, text: expect.stringContaining('lanefold_runs{status="queued"} 1\n') });
    expect(jobs(away.text)).toEqual([]);
    redis.end();
    expect(jobs((await api.call('GET', '/metrics')).text).length).toBeGreaterThan(1);
  });
});
