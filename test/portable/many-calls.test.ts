import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
let client: PoolClient;
beforeAll(async () => {
  lanefold = await startLanefold();
  client = await lanefold.database.pool.connect();
});
afterAll(async () => {
  client?.release();
  await lanefold?.close();
});

const at = '2026-01-01T00:00:00.000000Z';
const callOf = (i: number) => ({ id: `c${i}`, name: 'look', arguments: {} });

/** An export whose run had asked for `calls` tools and for one more on another lane, without a result. */
function forged(calls: number) {
  const message = (seq: number, role: string, more: object = {}, lane = 'default') => ({
    seq,
    kind: 'ai_message',
    context_ref: lane,
    role,
    at,
    is_anchor: false,
    payload: { content: role, ...more },
  });
  const toolCalls = Array.from({ length: calls }, (_, i) => ({
    round: 1,
    call_index: i,
    tool_call_id: `c${i}`,
    name: 'look',
    status: 'pending',
    attempts: 0,
    call_seq: 1,
  }));
  const run = {
    id: 'r',
    request_id: 'r',
    request_hash: '',
    agent: 'a',
    strategy: 'react',
    model: 'm',
    status: 'running',
    context_ref: 'default',
    created_at: at,
    step: 1,
    iteration: 1,
    user_seq: 0,
  };
  const other = { ...toolCalls[0], call_seq: 3 };
  return {
    request_hash: 'h',
    contents: [],
    lanes: [],
    entries: [
      message(0, 'user'),
      message(1, 'assistant', { tool_calls: Array.from({ length: calls }, (_, i) => callOf(i)) }),
      message(2, 'user', {}, 'another'),
      message(3, 'assistant', { tool_calls: [callOf(0)] }, 'another'),
      { seq: 4, kind: 'note', at, is_anchor: false, payload: {} },
    ],
    runs: [
      { ...run, tool_calls: toolCalls },
      { ...run, id: 'o', request_id: 'o', context_ref: 'another', tool_calls: [other, { ...other, call_index: 1 }] },
    ],
  };
}

/** Imports it, and returns how many rows of the log that took; and the results that the calls got. */
async function importWith(calls: number) {
  await client.query('begin');
  await client.query('select lanefold.import_thread($1, $2)', [`with-${calls}`, JSON.stringify(forged(calls))]);
  const { rows } = await client.query<{ read: number }>(
    `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
     where schemaname = 'lanefold' and relname = '_entry'`,
  );
  await client.query('commit');
  const { rows: results } = await client.query<{ run_id: string; call: string; result: string | null }>(
    `select c.run_id, c.tool_call_id as call, e.payload ->> 'tool_call_id' as result
     from lanefold.run_tool_call c left join lanefold.thread_entry e on e.thread_id = c.thread_id and e.seq = c.result_seq
       and e.context_ref = case c.run_id when 'r' then 'default' else 'another' end
     where c.thread_id = $1 order by c.run_id, c.round, c.call_index`,
    [`with-${calls}`],
  );
  return { read: rows[0]!.read, results };
}

test('calls without a result get the one that closed their group, in linear time', async () => {
  const few = await importWith(200);
  const many = await importWith(2_000);
  const own = Array.from({ length: 2_000 }, (_, i) => ({ run_id: 'r', call: `c${i}`, result: `c${i}` }));
  // nothing closed a second call of the other lane
  const others = [
    { run_id: 'o', call: 'c0', result: 'c0' },
    { run_id: 'o', call: 'c0', result: null },
  ];
  expect(many.results).toEqual([...others, ...own]);
  // 10 in linear time and 100 in quadratic time; which of the rows a plan reads twice depends on their number
  expect(many.read / few.read).toBeLessThan(40);
});
