// @module-tag long
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chaosAgents } from '../../src/ops/chaos/workload/tools.ts';
import { Journal } from '../../src/ops/chaos/workload/journal.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { citusFolder, createCluster, startCitus, type CitusCluster } from '../support/citus.ts';
import { divide, freezeNode, on } from '../support/citus-node.ts';
import { fakeModel } from '../support/fake-model.ts';
import { deferred, until } from '../support/until.ts';
import { startLoad } from './load.ts';
import { expectWhole } from './whole.ts';

describe.skipIf(!citusFolder || !inject('redisUrl'))('a node whose host is frozen', () => {
  let dir: string;
  let cluster: CitusCluster;
  let databaseUrl: string;
  let lanefold: Lanefold;
  /** The node that will be frozen. */
  let node: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-citus-'));
    await chmod(dir, 0o755);
    cluster = await startCitus(path.join(dir, 'nodes'));
    node = cluster.nodes[1]!;
    databaseUrl = await createCluster(cluster.nodes, 'frozen');
    await migrate(databaseUrl, { queueTables: false });
    lanefold = await createLanefold({
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-frozen',
      agents: chaosAgents(new Journal(dir)),
    });
    await lanefold.startWorker({ sweepMs: 300, concurrency: 12, onError: () => {} });
  });
  afterAll(async () => {
    await lanefold?.close();
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const namedAlike = (name: string) => Array.from({ length: 12 }, (_, n) => `${name}-${n}`);

  test('completes the runs of other nodes meanwhile, and its own afterwards', async () => {
    const complete = async (threadId: string, requestId?: string) => {
      const run = await lanefold.runs.enqueue({
        agent: 'chaos',
        threadId,
        createThread: true,
        ...(requestId && { requestId }),
        model: 'scripted:["Done."]',
        input: 'go',
      });
      const ended = await lanefold.runs.wait(run);
      expect(ended).toMatchObject({ status: 'completed', result: 'Done.' });
    };
    const { gone, there } = await divide(databaseUrl, node, namedAlike('here-or-there'));
    const load = startLoad(lanefold, 'frozen', 6);
    await load.progress(6);
    const thaw = await freezeNode(node);
    try {
      for (const threadId of [...there, ...there]) await complete(threadId);
      await expect(complete(gone[0]!, 'cut-off')).rejects.toMatchObject({
        code: 'database_unreachable',
        details: { node: new URL(node).host },
      });
      for (const threadId of there) await complete(threadId);
    } finally {
      thaw();
    }
    await until('calls for its threads are sent again', () =>
      // it may be carried out once the node continues
      complete(gone[0]!, 'cut-off').then(
        () => true,
        (error: { code?: string }) => {
          if (error.code !== 'database_unreachable') throw error;
        },
      ),
    );
    for (const threadId of gone) await complete(threadId);
    await load.progress(6);
    await load.stop();
    await expectWhole(databaseUrl, dir, load.acknowledged);
  });

  test('costs no lease of a run on another node, and no run there that a sweep has to find', async () => {
    const answered = deferred<{ text: string }>();
    const model = fakeModel(({ prompt }) =>
      JSON.stringify(prompt).includes('waits-') ? answered.promise : { text: 'Done.' },
    );
    const options = {
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-frozen-leases',
      models: { fake: model },
      agents: [defineAgent({ name: 'waits', model: 'fake', idleTimeoutMs: 600_000 })],
    };
    const own = await createLanefold(options);
    try {
      await own.startWorker({ sweepMs: 300, concurrency: 40, onError: () => {} });
      const { gone, there } = await divide(databaseUrl, node, namedAlike('waits'));
      const runs = await Promise.all(
        [...gone, ...there].map((threadId) =>
          own.runs.enqueue({ agent: 'waits', threadId, createThread: true, input: `from ${threadId}.` }),
        ),
      );
      await until('every run waits for its model', () => model.calls.length === runs.length);
      const [lost] = (await divide(databaseUrl, node, namedAlike('lost'))).there;
      const thaw = await freezeNode(node);
      try {
        const frozenAt = new Date();
        const forgotten = await own.runs.enqueue({
          agent: 'waits',
          threadId: lost!,
          createThread: true,
          input: 'Who has my job?',
          delayMs: 1_000,
        });
        for (const queue of own.queues) await queue.remove(`${forgotten.id}.1`);
        expect(await own.runs.wait(forgotten)).toMatchObject({ status: 'completed' });
        const renewed = `select min(lease_until) > $2::timestamptz + interval '12 s' as renewed from lanefold._run
            where thread_id = any ($1)`;
        await on(databaseUrl, (coordinator) =>
          until(
            'leases were renewed for longer than one lasts',
            async () => (await coordinator.query<{ renewed: boolean }>(renewed, [there, frozenAt])).rows[0]!.renewed,
          ),
        );
        answered.resolve({ text: 'Done.' });
        for (const run of runs.filter(({ threadId }) => there.includes(threadId))) {
          expect(await own.runs.wait(run)).toMatchObject({ status: 'completed' });
        }
      } finally {
        thaw();
      }
      const asked = there.map((id) =>
        model.calls.filter((call) => JSON.stringify(call.prompt).includes(`from ${id}.`)),
      );
      expect(asked.map((calls) => calls.length)).toEqual(there.map(() => 1));
      for (const run of runs) {
        expect(await own.runs.wait(run)).toMatchObject({ status: 'completed' });
        const entries = await own.threads.entries(run.threadId);
        expect(entries.filter(({ role }) => role === 'assistant')).toHaveLength(1);
      }
    } finally {
      await own.close();
    }
  });
});
