import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

let lanefold: Runtime;
beforeAll(async () => {
  const look = defineTool({ name: 'look', input: z.object({}).loose(), execute: () => 'seen' });
  lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools: [look] })]);
});
afterAll(() => lanefold?.close());

/**
 * Bytes of the rows of a run of one tool call and few words in a thread of its own: what they took when this was written, and a
 * twentieth. Raise a number only for something that is worth its space in every run.
 */
const limits: Record<string, number> = {
  _entry: 1_440,
  _event_batch: 715,
  _run: 525,
  _tool_call: 160,
  thread: 152,
  _lane: 75,
};

test('a run takes no more space than it took', async () => {
  const model = lanefold.model([{ calls: [{ id: 'c', name: 'look', args: { q: 1 } }] }, { text: 'It is there.' }]);
  const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'Where is it?' });
  expect(run).toMatchObject({ status: 'completed', step: 3 });
  for (const [table, limit] of Object.entries(limits)) {
    const { rows } = await lanefold.database.pool.query<{ bytes: number }>(
      `select sum(pg_column_size(x.*))::int as bytes from lanefold.${table} x where ${table === 'thread' ? 'id' : 'thread_id'} = $1`,
      [threadId],
    );
    expect(rows[0]!.bytes, table).toBeLessThanOrEqual(limit);
  }
});
