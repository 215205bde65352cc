// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quick, startHarness, type FaultHarness, type WorkerProcess } from '../faults/harness.ts';

import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';

/** An eval of sixty cases. */
const count = 60;
/** 240 runs, and ten workers to start. */
const longMs = 600_000;

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

  const table = async (id: string) =>
    (await harness.evals.items(id, { limit: 1_000 })).map(({ caseId, variant, repeat, status, answer, scores }) => ({
      ...{ caseId, variant, repeat, status, answer, scores },
    }));
  const run = () =>
    harness.evals.run({
      dataset: 'crash',
      fresh: true,
      concurrency: 4,
      variants: [{ name: 'a' }, { name: 'b', systemPrompt: 'B' }],
    });

  test(
    'gives the same table if its workers are killed ten times',
    async () => {
      let workers: WorkerProcess[] = [];
      const another = async () =>
        void workers.push(await harness.spawnWorker({ name: `w${workers.length}`, worker: quick }));
      await Promise.all([another(), another()]);
      for (let i = 0; i < count; i++) {
        const asked = await harness.runs.enqueue({
          agent: 'fault',
          input: `${i}`,
          threadId: `case-${i}`,
          createThread: true,
        });
        const { id: runId } = await harness.runs.wait(asked);
        // half of the answers are wrong
        const expected = { answer: i % 2 === 0 ? 'Done.' : 'Undone.' };
        await harness.cases.keep({ threadId: `case-${i}`, runId, dataset: 'crash', expected });
      }
      const calm = await harness.evals.wait((await run()).id, { timeoutMs: 240_000 });
      expect(calm).toMatchObject({ status: 'completed', items: { done: 2 * count } });

      left = 0;
      const { id } = await run();
      const settled = async () => {
        const { items } = await harness.evals.get(id);
        return items.done + items.failed;
      };
      for (let kills = 0; kills < 10; kills++) {
        const before = await settled();
        // with as many that wait, at most eight of the 120 items at each kill
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
    },
    longMs,
  );
});
