// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quick, startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';

describe('an eval', () => {
  let harness: FaultHarness;
  /** Answers that the model still gives; further calls wait for the next kill, so that items are left for the last one. */
  let left = Infinity;
  const waiting: (() => void)[] = [];
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = async () => {
      if (left > 0) left--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return { text: 'Done.' };
    };
  });
  const answer = (more: number) => {
    left = more;
    for (const go of waiting.splice(0)) go();
  };
  afterAll(() => harness?.close());

  const small = { count: 16, kills: 3 };
  const large = { count: 60, kills: 10 };
  const table = async (id: string) =>
    (await harness.evals.items(id, { limit: 1_000 })).map(({ caseId, variant, repeat, status, answer, scores }) => ({
      caseId,
      variant,
      repeat,
      status,
      answer,
      scores,
    }));
  const run = (dataset: string) =>
    harness.evals.run({
      dataset,
      fresh: true,
      concurrency: 4,
      variants: [{ name: 'a' }, { name: 'b', systemPrompt: 'B' }],
    });

  const isTheSame = async ({ count, kills }: typeof small) => {
    const dataset = `crash-${count}`;
    let workers: WorkerProcess[] = [];
    const another = async () =>
      void workers.push(await harness.spawnWorker({ name: `w${workers.length}`, worker: quick }));
    await Promise.all([another(), another()]);
    for (let i = 0; i < count; i++) {
      const asked = await harness.runs.enqueue({
        agent: 'fault',
        input: `${i}`,
        threadId: `${dataset}-${i}`,
        createThread: true,
      });
      const { id: runId } = await harness.runs.wait(asked);
      // half of the answers are wrong
      const expected = { answer: i % 2 === 0 ? 'Done.' : 'Undone.' };
      await harness.cases.keep({ threadId: `${dataset}-${i}`, runId, dataset, expected });
    }
    const calm = await harness.evals.wait((await run(dataset)).id, { timeoutMs: 240_000 });
    expect(calm).toMatchObject({ status: 'completed', items: { done: 2 * count } });

    left = 0;
    const { id } = await run(dataset);
    const settled = async () => {
      const { items } = await harness.evals.get(id);
      return items.done + items.failed;
    };
    for (let killed = 0; killed < kills; killed++) {
      const before = await settled();
      // with as many that wait, at most eight items are settled at each kill
      answer(4);
      await until('more items are settled', async () => (await settled()) > before);
      const [victim, ...others] = workers as [WorkerProcess, ...WorkerProcess[]];
      await victim.kill();
      workers = others;
      await another();
    }
    answer(Infinity);
    const stormy = await harness.evals.wait(id, { timeoutMs: 240_000 });
    expect(stormy).toMatchObject({ status: 'completed', items: { done: 2 * count, failed: 0 } });
    expect(await table(id)).toEqual(await table(calm.id));
    const items = await harness.evals.items(id, { limit: 1_000 });
    expect(new Set(items.map(({ runId }) => runId)).size).toBe(2 * count);
    for (const { threadId } of items.slice(0, 10)) {
      const runs = 'select id from lanefold.run where thread_id = $1';
      expect((await harness.database.pool.query(runs, [threadId])).rowCount).toBe(1);
      await expectSound(harness, threadId!);
    }
    await Promise.all(workers.map((worker) => worker.kill()));
  };

  test('gives the same table if its workers are killed', () => isTheSame(small));
  test('gives the same table if its workers are killed ten times', { tags: 'long' }, () => isTheSame(large));
});
