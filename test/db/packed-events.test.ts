import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../src/agent/context/message.ts';
import { cases } from '../support/cases.ts';
import { newThread, rows, useLog } from './helpers.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();

/** Phrases that are packed, and texts that look like what they are packed to, also where a caller wrote them. */
const text = fc.oneof(
  fc.constantFrom(
    'tool_calls',
    'final_answer',
    '", "finish_reason": "',
    ', "k": "checkpoint", "r": "after_llm"}',
    '\\u0001',
    '\u0001',
    '\u001f',
    '\t\n\r',
    '\u007f',
    '…',
  ),
  fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed() && !s.includes('\0')),
);
const data = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom('usage', 'tool_calls', 'd', 'k', 'i'), text), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('the trace keeps what steps tell, whatever texts their events hold', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'telling');
  await run.enqueue();
  await run.claim();
  let step = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(data, { minLength: 1, maxLength: 3 }), async (told) => {
      const events = told.map((value) => ({ k: 'told', i: 1, d: { value } }));
      await run.commit(step++, { events, state: {} });
      const stored = await rows<{ data: { value: Json } }>(
        log.db,
        `select data from lanefold.run_event where thread_id = $1 and run_id = 'telling' and kind = 'told'
         order by event_seq desc limit ${events.length}`,
        threadId,
      );
      expect(stored.reverse().map((event) => event.data.value)).toEqual(told);
    }),
    { numRuns: cases(60) },
  );
});

test('the events of a usual run take a third of their text', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'usual');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a']));
  await run.commit(1, results(['a']));
  await run.commit(2, answer('done'));
  const [size] = await rows<{ packed: number; whole: number }>(
    log.db,
    `select sum(octet_length(e.events))::int as packed, sum(octet_length(b.events::text))::int as whole
     from lanefold._event_batch e join lanefold._batch b on b.thread_id = e.thread_id and b.event_seq = e.event_seq
     where e.thread_id = $1`,
    threadId,
  );
  expect(size!.packed).toBeLessThan(size!.whole / 3);
});
