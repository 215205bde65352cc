// @module-tag long
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { citusFolder, createCluster, startCitus, type CitusCluster } from '../support/citus.ts';
import { divide } from '../support/citus-node.ts';
import { createNamespace } from '../support/network-namespace.ts';
import { until } from '../support/until.ts';

const network = citusFolder && inject('redisUrl') ? await createNamespace() : undefined;

describe.skipIf(!network)('a node whose packets are lost', () => {
  let dir: string;
  let cluster: CitusCluster;
  let databaseUrl: string;
  let lanefold: Lanefold;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-citus-'));
    await chmod(dir, 0o755);
    cluster = await startCitus(path.join(dir, 'nodes'), 2, network!.name);
    databaseUrl = await createCluster(cluster.nodes, 'dropped');
    await migrate(databaseUrl, { queueTables: false });
    lanefold = await createLanefold({
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-dropped',
      agents: [defineAgent({ name: 'a', model: 'scripted:echo' })],
    });
    await lanefold.startWorker({ sweepMs: 300, onError: () => {} });
  });
  afterAll(async () => {
    await lanefold?.close();
    await cluster?.stop();
    await network?.remove();
    await rm(dir, { recursive: true, force: true });
  });

  test('completes the runs of other nodes meanwhile, and its own afterwards', async () => {
    const enqueue = (threadId: string, n: number) =>
      lanefold.runs.enqueue({ agent: 'a', threadId, createThread: true, input: `${threadId} ${n}` });
    const complete = async (threadId: string, n: number) => {
      const run = await lanefold.runs.wait(await enqueue(threadId, n), { timeoutMs: 90_000 });
      expect(run).toMatchObject({ status: 'completed', result: `${threadId} ${n}` });
    };
    const node = new URL(cluster.nodes[1]!);
    const ids = Array.from({ length: 12 }, (_, n) => `here-or-there-${n}`);
    const { gone, there } = await divide(databaseUrl, node.href, ids);
    // connections of the coordinator to both nodes, which stay open
    await Promise.all(ids.map((threadId) => complete(threadId, 0)));
    const started = await Promise.all(gone.map((threadId) => enqueue(threadId, 1)));
    await network!.drop(Number(node.port));
    try {
      const unreachable = { code: 'database_unreachable', details: { node: node.host } };
      const failed = Promise.all(
        gone.map((threadId) => expect(enqueue(threadId, 2)).rejects.toMatchObject(unreachable)),
      );
      await Promise.all(there.map((threadId) => complete(threadId, 1)));
      await failed;
      await expect(enqueue(gone[0]!, 3)).rejects.toMatchObject(unreachable);
      await Promise.all(there.map((threadId) => complete(threadId, 2)));
    } finally {
      await network!.deliver();
    }
    for (const run of started)
      expect(await lanefold.runs.wait(run, { timeoutMs: 90_000 })).toMatchObject({ status: 'completed' });
    // also those whose enqueue was cut off, if their node learned of it
    for (const threadId of gone) {
      await until('each run of the thread has ended, and was asked once', async () => {
        const runs = await lanefold.runs.list({ threadId }).catch(() => undefined);
        if (!runs?.data.every(({ status }) => status === 'completed')) return false;
        const asked = (await lanefold.threads.entries(threadId)).filter(({ role }) => role === 'user');
        return asked.length === runs.data.length;
      });
    }
  });
});
