// @module-tag slow
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent } from 'lanefold';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { quick } from '../faults/harness.ts';
import { fakeModel, type FakeModel } from '../support/fake-model.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.ts';
import { deferred, until } from '../support/until.ts';

/** `{lf-0}` to `{lf-5}` lie on all three nodes of a fresh cluster: names determine slots, so this never varies. */
const shards = 6;

describe.skipIf(queueBackend() !== 'redis' || noRedis())('a queue on Redis Cluster', () => {
  let dir: string;
  let cluster: RedisCluster;
  let lanefold: TestLanefold;
  let model: FakeModel;
  let gate: ReturnType<typeof deferred<void>>;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-cluster-'));
    cluster = (await startRedisCluster(dir))!;
  });
  afterAll(async () => {
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    gate = deferred();
    model = fakeModel(async ({ abortSignal }) => {
      const aborted = new Promise<never>((_, reject) =>
        abortSignal!.addEventListener('abort', () => reject(abortSignal!.reason as Error)),
      );
      await Promise.race([gate.promise, aborted]);
      return { text: 'done' };
    });
    lanefold = await startLanefold({
      redisUrl: cluster.url,
      queuePrefix: 'lf',
      queueShards: shards,
      agents: [defineAgent({ name: 'a', model: 'fake' })],
      models: { fake: model },
    });
  });
  afterEach(async () => {
    gate.resolve();
    await lanefold?.close();
    for (const client of cluster.clients) await client.flushall();
  });

  const enqueue = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => lanefold.runs.enqueue({ agent: 'a', input: `run ${i}` })));
  const allEnd = async (runs: { threadId: string; id: string }[]) => {
    for (const run of runs) {
      expect(await lanefold.runs.wait(run, { timeoutMs: 45_000 })).toMatchObject({ status: 'completed' });
    }
    for (const run of runs) await expectSound(lanefold, run.threadId);
  };

  test('spreads over all nodes; runs complete, wait in line and can be cancelled', async () => {
    const runs = await enqueue(30);
    for (const client of cluster.clients) expect(await client.dbsize()).toBeGreaterThan(0);
    await lanefold.startWorker({ concurrency: 10 });
    const next = await lanefold.runs.enqueue({ agent: 'a', input: 'next', threadId: runs[0]!.threadId, busy: 'wait' });
    await until('a run is active', () => model.calls.length > 0);
    expect(await lanefold.runs.cancel(runs[1]!)).toMatchObject({ accepted: true });
    gate.resolve();
    expect(await lanefold.runs.wait(runs[1]!)).toMatchObject({ status: 'cancelled' });
    await allEnd([...runs.filter((_, i) => i !== 1), next]);
  });

  test('appears in Bull Board', async () => {
    const [run] = await enqueue(1);
    const server = await lanefold.startServer({ port: 0 });
    const response = await fetch(`${server.url}/admin/queues/api/queues`);
    const { queues } = (await response.json()) as { queues: { name: string; counts: { waiting: number } }[] };
    expect(queues.map((queue) => queue.name)).toEqual(Array.from({ length: shards }, (_, i) => `lf-${i}`));
    expect(queues.map((queue) => queue.counts.waiting).reduce((a, b) => a + b)).toBe(1);
    await lanefold.runs.cancel(run!);
  });

  test('loses no run when every node is flushed', async () => {
    const runs = await enqueue(12);
    await lanefold.startWorker({ ...quick, concurrency: 2 });
    await until('some runs are active', () => model.calls.length > 0);
    for (const client of cluster.clients) await client.flushall();
    gate.resolve();
    await allEnd(runs);
  });

  test('loses no run when a master is killed and comes back empty', async () => {
    const runs = await enqueue(12);
    await lanefold.startWorker({ ...quick, concurrency: 2, onError: () => {} });
    await until('some runs are active', () => model.calls.length > 0);
    await cluster.restart(0);
    gate.resolve();
    await allEnd([...runs, ...(await enqueue(12))]);
  });

  test.each(['redis+cluster://', 'redis+cluster://host:port', 'rediss+cluster://a:1,,b:2'])(
    'rejects %s as an invalid list of nodes',
    async (redisUrl) => {
      await expect(createLanefold({ ...lanefold.options, redisUrl })).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );
});
