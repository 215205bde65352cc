import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  const worker = await lanefold.startWorker();
  const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'Hello?' });
  await lanefold.runs.wait(run);
  await worker.stop();
  await lanefold.cases.keep({ threadId: run.threadId, runId: run.id, dataset: 'd', expected: { contains: ['Hello'] } });
});
afterAll(() => lanefold?.close());

test('an item belongs to the worker that starts its run, until its time is over', async () => {
  const { id } = await lanefold.evals.run({ dataset: 'd', fresh: true });
  const { pool } = lanefold.database;
  const take = async () =>
    (await pool.query<{ item: object }>(`select lanefold.take_eval_items($1, '["echo"]', 60000) as item`, [id])).rows;
  expect(await take()).toMatchObject([{ item: { no: 1, agent: 'echo' } }]);
  expect(await take()).toEqual([]);
  await pool.query("update lanefold._eval_item set held_until = now() - interval '1 ms' where eval_id = $1", [id]);
  expect(await take()).toMatchObject([{ item: { no: 1, agent: 'echo' } }]);
});
