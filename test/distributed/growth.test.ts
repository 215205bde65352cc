// @module-tag long
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { contextHash, createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { chaosAgents } from '../../src/ops/chaos/workload/tools.ts';
import { Journal } from '../../src/ops/chaos/workload/journal.ts';
import { canonicalMessage } from '../../src/agent/context/canonical.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import {
  citusFolder,
  connectNodes,
  createDatabases,
  databaseAt,
  startCitus,
  type CitusCluster,
} from '../support/citus.ts';
import { on, portsOf } from '../support/citus-node.ts';
import { startLoad } from './load.ts';
import { expectWhole } from './whole.ts';

const name = 'growth';
const resting = Array.from({ length: 12 }, (_, n) => `at-rest-${n}`);

describe.skipIf(!citusFolder || !inject('redisUrl'))('a third node', () => {
  let dir: string;
  let cluster: CitusCluster;
  let databaseUrl: string;
  let lanefold: Lanefold;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-citus-'));
    await chmod(dir, 0o755);
    cluster = await startCitus(path.join(dir, 'nodes'), 3);
    databaseUrl = await createDatabases(cluster.nodes, name);
    await connectNodes(cluster.nodes.slice(0, 3), name);
    await migrate(databaseUrl, { queueTables: false });
    lanefold = await createLanefold({
      databaseUrl,
      redisUrl: inject('redisUrl'),
      queuePrefix: 'distributed-growth',
      agents: chaosAgents(new Journal(dir)),
    });
    await lanefold.startWorker({ leaseMs: 2_000, sweepMs: 300, concurrency: 12, onError: () => {} });
  });
  afterAll(async () => {
    await lanefold?.close();
    await cluster?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const hashOf = async (threadId: string) => {
    const rows = await lanefold.contexts.project(threadId);
    return contextHash(rows.map((row) => canonicalMessage({ ...row })));
  };
  const hashes = () => Promise.all(resting.map(hashOf));

  test('takes shards under load: no run is lost, and threads at rest have the contexts they had', async () => {
    const steps = `scripted:${JSON.stringify([{ tools: [{ tool: 'look', args: { ms: 1 } }] }, 'Seen.'])}`;
    const each = (more: { input: string; createThread?: boolean }) =>
      Promise.all(
        resting.map(async (threadId) => {
          const run = await lanefold.runs.enqueue({ agent: 'chaos', threadId, model: steps, ...more });
          expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Seen.' });
        }),
      );
    await each({ createThread: true, input: 'go' });
    const before = await hashes();
    const added = new URL(databaseAt(cluster.nodes[3]!, name));
    const load = startLoad(lanefold, 'growing', 6);
    await load.progress(6);
    await on(added.href, (node) => node.query('create extension citus'));
    await on(databaseUrl, async (coordinator) => {
      await coordinator.query('select citus_add_node($1, $2)', [added.hostname, Number(added.port)]);
      const { rows: plan } = await coordinator.query('select from get_rebalance_table_shards_plan()');
      expect(plan.length).toBeGreaterThan(0);
      // not by logical replication: PostgreSQL applies it to no table with row-level security
      await coordinator.query("select rebalance_table_shards(shard_transfer_mode => 'block_writes')");
      expect((await coordinator.query('select from get_rebalance_table_shards_plan()')).rows).toEqual([]);
      expect(await portsOf(coordinator, resting)).toContain(Number(added.port));
    });
    await load.progress(6);
    await load.stop();
    expect(await hashes()).toEqual(before);
    await expectWhole(databaseUrl, dir, load.acknowledged);
    await each({ input: 'and here?' });
  });
});
