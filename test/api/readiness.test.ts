import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../../src/ops/chaos/services/redis.ts';
import { until } from '../support/until.ts';
import { startApi, type Api } from './helpers.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'lanefold-redis-'));
const redis = await startRedis(dir);
if (!redis) console.log('No redis-server on the PATH: the readiness while Redis is down is not tested.');
afterAll(async () => {
  await redis?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test.skipIf(!redis)('a server is ready while it accepts runs, whatever happens to Redis', async () => {
  const { url, port } = redis!;
  let api: Api | undefined;
  let back: RedisServer | undefined;
  try {
    api = await startApi({ redisUrl: url });
    const ready = async () => {
      const { status, body } = await api!.call('GET', '/readyz');
      expect([status, body]).toEqual([200, { status: 'ready', degraded: expect.any(Array) as string[] }]);
      return (body as { degraded: string[] }).degraded;
    };
    expect(await ready()).toEqual([]);

    await redis!.stop();
    await until('the queue is reported', async () => (await ready()).includes('queue'));
    const accepted = await api.call('POST', '/v1/threads/during/runs', {
      agent: 'calc',
      input: 'hi',
      create_thread: true,
    });
    expect(accepted.status).toBe(202);
    expect(await ready()).toEqual(['queue']);

    back = await startRedis(dir, { port });
    // each probe until then is answered with 200 too
    await until('the queue is back', async () => (await ready()).length === 0);
    const run = accepted.headers.get('location')!;
    await until('the run has ended', async () => {
      await ready();
      return (await api!.call('GET', run)).text.includes('"status":"completed"');
    });
  } finally {
    await api?.close();
    await back?.stop();
  }
});
