// @module-tag long
import { createLanefold, type Lanefold, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { treeAgent, type Plan } from '../faults/fixtures/tree-agent.ts';
import { patient, startHarness, type FaultHarness } from '../faults/harness.ts';

import { until } from '../support/until.ts';
import { atRest, expectWhole, startTree } from './trees.ts';

describe('fleets with the same agents on one database', () => {
  let first: FaultHarness;
  let other: Lanefold;
  let lonely: Lanefold;
  let unique = 0;
  beforeAll(async () => {
    first = await startHarness({}, { trees: true });
    const { databaseUrl, redisUrl, queuePrefix } = first.options;
    const join = (suffix: string, privateQueue: boolean) =>
      createLanefold({
        databaseUrl: databaseUrl!,
        redisUrl: redisUrl!,
        ...treeAgent(),
        queuePrefix: `${queuePrefix}${suffix}`,
        privateQueue,
      });
    other = await join('o', false);
    lonely = await join('p', true);
  });
  afterAll(async () => {
    await lonely?.close();
    await other?.close();
    await first?.close();
  });

  const newPlan = (): Plan => {
    unique += 1;
    return { name: `parent${unique}`, rounds: [[{ do: 'ask', plan: { name: `child${unique}`, rounds: [] } }]] };
  };
  /** A worker of the first fleet dies before this statement, and `minutes` pass. */
  const left = async (dieBefore: string, plan: Plan, minutes: number) => {
    const worker = await first.spawnWorker({ dieBefore });
    const root = await startTree(first, plan);
    await worker.waitForExit();
    await first.quiet();
    for (const statement of [
      `update lanefold._wait set created_at = created_at - $1 * interval '1 minute'`,
      `update lanefold._child_run set ended_at = ended_at - $1 * interval '1 minute'`,
    ])
      await first.database.pool.query(statement, [minutes]);
    return root;
  };
  const withWorker = async (fleet: Lanefold, act: () => Promise<unknown>) => {
    const worker = await fleet.startWorker(patient);
    await act();
    await worker.stop();
  };
  /** The worker does a task that any fleet does, and that is younger than all others: it has looked at them before. */
  const looks = async () => {
    await first.database.pool.query(
      `insert into lanefold._wait (thread_id, run_id, round, call_index, kind, status, task, created_at, ended_at,
         child_thread_id, child_run_id, request)
       values ('gone', 'gone', 0, 0, 'run', 'abandoned', 'cancel', now(), now() - interval '1 day', 'gone', 'gone', '{}')`,
    );
    await until('the task is done', async () => {
      const { rowCount } = await first.database.pool.query(`select from lanefold._wait where thread_id = 'gone'`);
      return rowCount === 0;
    });
  };
  /** After tasks, a look is for what parents were not told; so the second task is done once a look has ended. */
  const looksTwice = async () => {
    await looks();
    await looks();
  };
  const childrenOf = async (root: RunRef) => {
    const { rows } = await first.database.pool.query<{ fleet: string }>(
      `select r.queue_prefix as fleet from lanefold._child_run c join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
       where c.root_run_id = $1`,
      [root.id],
    );
    return rows.map(({ fleet }) => fleet);
  };
  const rescued = async (root: RunRef, plan: Plan) => {
    await first.expireLease(root.threadId);
    await withWorker(first, () => atRest(first));
    await expectWhole(first, root, plan);
  };

  test('a child that a dead worker has not started is started by its own fleet', async () => {
    const plan = newPlan();
    const root = await left('enqueue_run:1', plan, 1);
    await withWorker(lonely, looksTwice);
    await withWorker(other, looksTwice);
    expect(await childrenOf(root)).toEqual([]);
    await rescued(root, plan);
    expect(await childrenOf(root)).toEqual([first.options.queuePrefix]);
  });

  test('after five minutes, another fleet starts it, but no private one', async () => {
    const plan = newPlan();
    const root = await left('enqueue_run:1', plan, 6);
    await withWorker(lonely, looksTwice);
    expect(await childrenOf(root)).toEqual([]);
    await withWorker(other, () => until('it has started', async () => (await childrenOf(root)).length > 0));
    expect(await childrenOf(root)).toEqual([`${first.options.queuePrefix}o`]);
    await first.runs.cancel(root);
    await first.expireLease(root.threadId);
    await withWorker(other, () => withWorker(first, () => atRest(first)));
  });

  test('the end of a child is told by its own fleet', async () => {
    const plan = newPlan();
    const root = await left('end_child:1', plan, 2);
    expect(await first.runs.get(root)).toMatchObject({ status: 'suspended' });
    await withWorker(lonely, looksTwice);
    await withWorker(other, looksTwice);
    expect(await first.runs.get(root)).toMatchObject({ status: 'suspended' });
    await rescued(root, plan);
  });
});
