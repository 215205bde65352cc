import { beforeEach, describe, expect, test } from 'vitest';
import { everythingOf, newThread, refused, rows, useLog } from './helpers.ts';
import { answer, asks, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
let run: ReturnType<typeof sqlRun>;
beforeEach(async () => {
  threadId = await newThread(log);
  run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
});

const say = (content: string) => ({ role: 'user' as const, content });
const replace = (content: string, opId: string) =>
  log.contexts.replace(threadId, { entries: [say(content)] }, { opId });
const ops = () =>
  rows(
    log.db,
    'select op_id, status, entry_seq::int, operation is null as settled from lanefold.context_op where thread_id = $1 order by op_id',
    threadId,
  );
const contents = async () => (await log.contexts.project(threadId)).map((row) => row.content);
const error = { type: 'model', message: 'broken' };

test('while a run is active an operation waits, on any lane, and has no effect yet', async () => {
  const before = (await everythingOf(log.db, threadId)).entries;
  expect(await replace('after', 'o')).toEqual({ opId: 'o', status: 'deferred', opStatus: 'pending', seq: null });
  expect(await log.contexts.switch(threadId, 'plan', { opId: 'p' })).toMatchObject({ status: 'deferred' });
  expect((await everythingOf(log.db, threadId)).entries).toEqual(before);
  expect(await log.threads.get(threadId)).toMatchObject({ activeContextRef: 'default' });
});

describe.each([
  ['completed', () => run.commit(0, answer('done'))],
  ['failed', () => run.finish({ status: 'failed', reason: 'error', error }, 1)],
  [
    'cancelled by its worker',
    async () => (await run.cancel(), run.finish({ status: 'failed', reason: 'error', error }, 1)),
  ],
  ['cancelled at its answer', async () => (await run.cancel(), run.commit(0, answer('done')))],
])('a run that is %s', (_, end) => {
  test('applies what waits, after its own last entry', async () => {
    await replace('after', 'o');
    await end();
    const entries = await log.threads.entries(threadId);
    expect(entries.at(-1)).toMatchObject({ kind: 'ai_context_operation', opId: 'o' });
    expect(await contents()).toEqual(['after']);
    expect(await ops()).toEqual([{ op_id: 'o', status: 'applied', entry_seq: entries.length - 1, settled: true }]);
  });
});

test('a run whose tools were open closes them before the operation', async () => {
  await run.commit(0, asks(['a']));
  await replace('after', 'o');
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  expect((await log.threads.entries(threadId)).map((e) => e.role ?? e.kind)).toEqual([
    'user',
    'assistant',
    'tool',
    'ai_context_operation',
  ]);
});

test('a run that never started applies it too', async () => {
  await run.commit(0, answer('done'));
  const next = sqlRun(log.db, threadId, 'next');
  await next.enqueue();
  expect(await replace('after', 'o')).toMatchObject({ status: 'deferred' });
  await next.cancel();
  expect(await contents()).toEqual(['after']);
});

test('the latest wins, the displaced ones are superseded for ever', async () => {
  for (const id of ['a', 'b', 'c']) await replace(`by ${id}`, id);
  expect((await ops()).map((o) => [o['op_id'], o['status']])).toEqual([
    ['a', 'superseded'],
    ['b', 'superseded'],
    ['c', 'pending'],
  ]);
  expect(await replace('by a', 'a')).toEqual({ opId: 'a', status: 'duplicate', opStatus: 'superseded', seq: null });
  await run.commit(0, answer('done'));
  expect(await contents()).toEqual(['by c']);
  expect(await replace('by a', 'a')).toMatchObject({ status: 'duplicate', opStatus: 'superseded' });
  expect(await replace('by c', 'c')).toMatchObject({ status: 'duplicate', opStatus: 'applied' });
  expect(await contents()).toEqual(['by c']);
});

test('resending one that waits, or one applied long ago, displaces nothing', async () => {
  await replace('first', 'old');
  await run.commit(0, answer('done'));
  const next = sqlRun(log.db, threadId, 'next');
  await next.enqueue();
  await replace('second', 'new');
  const before = await everythingOf(log.db, threadId);
  expect(await replace('first', 'old')).toMatchObject({ status: 'duplicate', opStatus: 'applied' });
  expect(await replace('second', 'new')).toMatchObject({ status: 'duplicate', opStatus: 'pending' });
  await refused(replace('other', 'new'), 'idempotency_mismatch');
  expect(await everythingOf(log.db, threadId)).toEqual(before);
  await next.cancel();
  expect(await contents()).toEqual(['second']);
});

test('is validated when it is accepted, and an invalid one displaces nothing', async () => {
  await replace('good', 'good');
  const before = await everythingOf(log.db, threadId);
  await refused(
    log.contexts.replace(threadId, { entries: [{ role: 'tool', content: 'x', tool_call_id: 'c' }] }),
    'open_tool_group',
  );
  await refused(log.contexts.switch(threadId, 'plan', { expectedRev: 0 }), 'rev_conflict');
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('what could not be written later is refused at once, also from SQL', async () => {
  const before = await everythingOf(log.db, threadId);
  for (const baseSeq of ['"abc"', '1.5', '1e30', '-1', '10000']) {
    const operation = `{"type": "replace", "reason": "compaction", "result_context": {"entries": []}, "base_seq": ${baseSeq}}`;
    await expect(
      log.db.query('bad_op', 'select lanefold.apply_operation($1, $2, $3, $4)', [
        threadId,
        'bad',
        'default',
        operation,
      ]),
      baseSeq,
    ).rejects.toMatchObject({ code: 'invalid_operation' });
  }
  for (const changes of [
    '[]',
    '{}',
    '[{"field": "colour", "value": 1}]',
    '[{"field": "system_prompt", "value": 1}]',
    '[{"field": "tool_context", "value": []}]',
    '[{"field": "tools", "value": {"register": "look"}}]',
    '[{"field": "tools", "value": {"register": [1]}}]',
    '[7]',
  ]) {
    await expect(
      log.db.query('bad_config', 'select lanefold.change_config($1, null, $2)', [threadId, changes]),
      changes,
    ).rejects.toMatchObject({ code: 'invalid_input' });
  }
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('expected_rev is checked when it is accepted, not when it is applied', async () => {
  const { rev } = await log.threads.get(threadId);
  expect(await log.contexts.switch(threadId, 'plan', { expectedRev: rev })).toMatchObject({ status: 'deferred' });
  await run.commit(0, answer('done'));
  expect(await log.threads.get(threadId)).toMatchObject({ activeContextRef: 'plan', rev: rev + 2 });
});

test('comes before the next waiting run, which sees its outcome', async () => {
  const next = sqlRun(log.db, threadId, 'next');
  await next.enqueue({ busy: 'wait', input: 'next' });
  await replace('after', 'o');
  await run.commit(0, answer('done'));
  const claim = await next.claim();
  expect((claim['context'] as { content: string }[]).map((m) => m.content)).toEqual(['after', 'next']);
});
