// @module-tag long
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chaosAgents } from '../../src/ops/chaos/workload/tools.ts';
import { Journal, nothingAcknowledged } from '../../src/ops/chaos/workload/journal.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { citusFolder, createCluster, startCitus, type CitusCluster } from '../support/citus.ts';
import { killNode, on, portsOf } from '../support/citus-node.ts';
import { fakeModel, type FakeTurn } from '../support/fake-model.ts';
import { until } from '../support/until.ts';
import { startLoad } from './load.ts';
import { expectWhole } from './whole.ts';

const answer = 'scripted:["Done."]';

describe.skipIf(!citusFolder || !inject('redisUrl'))('a distributed database', () => {
  let dir: string;
  let cluster: CitusCluster;
  let databaseUrl: string;
  let lanefold: Lanefold;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-citus-'));
    await chmod(dir, 0o755);
    cluster = await startCitus(path.join(dir, 'nodes'));
    databaseUrl = await createCluster(cluster.nodes, 'faults');
    await migrate(databaseUrl, { queueTables: false });
    lanefold = await createLanefold({
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-faults',
      agents: chaosAgents(new Journal(dir)),
    });
    await lanefold.startWorker({ sweepMs: 300, concurrency: 12, onError: () => {} });
  });
  afterAll(async () => {
    await lanefold?.close();
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  /** By all loads on this database. */
  const acknowledged = nothingAcknowledged();
  const complete = async (threadId: string) => {
    const run = await lanefold.runs.enqueue({
      agent: 'chaos',
      threadId,
      createThread: true,
      model: answer,
      input: 'go',
    });
    expect(await lanefold.runs.wait(run)).toMatchObject({
      status: 'completed',
      result: 'Done.',
    });
  };

  test('completes the runs of other nodes while one is down, and its own when it is back', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `here-or-there-${n}`);
    const ports = await on(databaseUrl, (coordinator) => portsOf(coordinator, ids));
    const killed = cluster.nodes[1]!;
    const [gone, there] = [true, false].map((isGone) =>
      ids.filter((_, n) => (ports[n] === Number(new URL(killed).port)) === isGone),
    ) as [string[], string[]];
    expect([gone.length > 0, there.length > 1]).toEqual([true, true]);
    const load = startLoad(lanefold, 'node', 6, acknowledged);
    await load.progress(6);
    const start = await killNode(killed);
    try {
      for (const threadId of there) await complete(threadId);
      await expect(complete(gone[0]!)).rejects.toMatchObject({ code: 'database_unreachable' });
    } finally {
      await start();
    }
    for (const threadId of gone) await complete(threadId);
    await load.progress(6);
    await load.stop();
    await expectWhole(databaseUrl, dir, acknowledged);
  });

  // a frozen node, which answers nothing, shows the same for each change
  test('renews the leases of runs on other nodes while one is down', { tags: 'long' }, async () => {
    let answerAll = () => {};
    const answered = new Promise<FakeTurn>((resolve) => (answerAll = () => resolve({ text: 'Done.' })));
    const model = fakeModel(() => answered);
    const own = await createLanefold({
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-leases',
      agents: [defineAgent({ name: 'waits', model: 'fake' })],
      models: { fake: model },
    });
    const ids = Array.from({ length: 12 }, (_, n) => `waits-${n}`);
    const killed = cluster.nodes[1]!;
    const ports = await on(databaseUrl, (coordinator) => portsOf(coordinator, ids));
    const there = ids.filter((_, n) => ports[n] !== Number(new URL(killed).port));
    try {
      await own.startWorker({ leaseMs: 3_000, sweepMs: 300, concurrency: 12, onError: () => {} });
      const runs = await Promise.all(
        ids.map((threadId) =>
          own.runs.enqueue({ agent: 'waits', threadId, createThread: true, input: `from ${threadId}.` }),
        ),
      );
      await until('every run waits for its model', () => model.calls.length === ids.length);
      const start = await killNode(killed);
      const killedAt = new Date();
      try {
        const renewedSince = `select min(lease_until) > $2::timestamptz + interval '6 s' as renewed from lanefold._run
            where thread_id = any ($1)`;
        await on(databaseUrl, (coordinator) =>
          until('leases were renewed for longer than one lasts', async () => {
            const { rows } = await coordinator.query<{ renewed: boolean }>(renewedSince, [there, killedAt]);
            return rows[0]!.renewed;
          }),
        );
        answerAll();
        for (const run of runs.filter(({ threadId }) => there.includes(threadId))) {
          expect(await own.runs.wait(run)).toMatchObject({ status: 'completed' });
        }
      } finally {
        await start();
      }
      const asked = there.map((id) => model.calls.filter((c) => JSON.stringify(c.prompt).includes(`from ${id}.`)));
      expect(asked.map((calls) => calls.length)).toEqual(there.map(() => 1));
      for (const run of runs) expect(await own.runs.wait(run)).toMatchObject({ status: 'completed' });
    } finally {
      await own.close();
    }
  });

  test('continues when its coordinator is back', async () => {
    const load = startLoad(lanefold, 'coordinator', 6, acknowledged);
    await load.progress(6);
    const start = await killNode(cluster.nodes[0]!);
    try {
      await expect(complete('any')).rejects.toMatchObject({ code: 'database_unreachable' });
    } finally {
      await start();
    }
    await complete('any');
    await load.progress(6);
    await load.stop();
    await expectWhole(databaseUrl, dir, acknowledged);
  });
});
