import { afterAll, beforeAll, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';
import { newThread, openLog, rows, value, type TestLog } from './helpers.ts';

let log: TestLog;
const anchors = 300;

let threadId: string;
beforeAll(async () => {
  log = await openLog();
  threadId = await newThread(log, { systemPrompt: 'Be kind.' });
  // random text, so that none of them is compressed to a row that fits a page
  await rows(
    log.db,
    `insert into lanefold._entry (thread_id, seq, at, kind, context_ref, is_anchor, payload, bytes)
     select e.*, pg_column_size(e.payload) from (select $1, n, now(), 'ai_context_operation', 'default', true, jsonb_build_object('operation', jsonb_build_object('type', 'replace',
       'reason', 'test', 'result_context', jsonb_build_object('entries', jsonb_build_array(jsonb_build_object('role', 'user',
       'content', (select string_agg(md5(n::text || i::text), '') from generate_series(1, 400) i)))))) as payload
     from generate_series(1, ${anchors}) n) e`,
    threadId,
  );
  await rows(log.db, 'update lanefold.thread set rev = $2 where id = $1', threadId, anchors + 1);
  await log.db.query('', 'analyze lanefold._entry');
});

afterAll(() => log.drop());

/** Pages that a statement reads, those of large values included. */
async function pagesRead(text: string, ...values: unknown[]): Promise<number> {
  const explained = `explain (analyze, buffers, timing off, format json) ${text}`;
  await rows(log.db, explained, ...values);
  const [row] = await rows<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(log.db, explained, ...values);
  const { Plan: plan } = row!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}

test.skipIf(citusLacks.plans)('the prompt of a lane is found without reading its anchors', async () => {
  const all = await pagesRead(`select sum(length(payload::text)) from lanefold._entry where thread_id = $1`, threadId);
  expect(all).toBeGreaterThan(anchors * 3);
  const of = (text: string) => pagesRead(text, threadId, 'default', anchors);
  expect(await of('select * from lanefold._lane_prompt($1, $2, $3)')).toBeLessThan(all / 20);
  expect(await of('select * from lanefold.lane_context_at($1, $2, $3)')).toBeLessThan(all / 20);
  expect(
    await of('select * from lanefold.lane_context where thread_id = $1 and context_ref = $2 and seq <= $3'),
  ).toBeLessThan(all / 20);
  // it passes the rows of the anchors, never their content
  expect(await of('select * from lanefold.lane_config_at($1, $2, $3)')).toBeLessThan(all / 2);
  expect(
    await value(log.db, 'select prompt from lanefold._lane_prompt($1, $2, $3)', threadId, 'default', anchors),
  ).toBe('Be kind.');
});
