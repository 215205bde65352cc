import { expect, test } from 'vitest';
import { logOf, newThread, refused, rows, useLog, value } from './helpers.ts';
import { digest } from './fork-digest.ts';

const log = useLog();
const user = (content: string) => ({ message: { role: 'user' as const, content } });
const call = {
  message: { role: 'assistant' as const, content: '', tool_calls: [{ id: 'a', name: 'add', arguments: {} }] },
};
const result = { message: { role: 'tool' as const, content: '7', tool_call_id: 'a', name: 'add' } };
const contextOf = async (id: string, contextRef?: string) =>
  (await log.contexts.project(id, contextRef === undefined ? {} : { contextRef })).map((row) => [
    row.role,
    row.content,
  ]);

test('a fork begins with what its parent was after an entry, and goes its own way', async () => {
  const id = await newThread(log, { systemPrompt: 'p' });
  await log.threads.append(id, [user('one'), { ...user('aside'), contextRef: 'side' }, user('two')]);
  await log.threads.configure(id, { systemPrompt: 'q', toolContext: { unit: 'm' } });
  await log.threads.append(id, [user('three')]);
  const before = await digest(log.db, id);
  const fork = await log.threads.fork(id, { atSeq: 2, metadata: { tries: 1 } });
  expect(await log.threads.get(fork.id)).toMatchObject({ parentThreadId: id, forkSeq: 2, metadata: { tries: 1 } });
  expect(await contextOf(fork.id)).toEqual([
    ['system', 'p'],
    ['user', 'one'],
  ]);
  expect(await contextOf(fork.id, 'side')).toEqual([
    ['system', 'p'],
    ['user', 'aside'],
  ]);
  expect(await log.threads.config(fork.id)).toMatchObject({ toolContext: {} });
  const [anchor] = (await logOf(log.db, fork.id)).filter((entry) => entry.is_anchor);
  expect(anchor!.payload).toMatchObject({
    operation: { type: 'replace', reason: 'system', meta: { parent_thread_id: id, fork_seq: 2 } },
  });

  await log.threads.append(fork.id, [user('other')]);
  expect(await digest(log.db, id)).toEqual(before);
  const now = await log.threads.fork(id);
  expect(await contextOf(now.id)).toEqual([
    ['system', 'q'],
    ['user', 'one'],
    ['user', 'two'],
    ['user', 'three'],
  ]);
  expect(await log.threads.config(now.id)).toMatchObject({ toolContext: { unit: 'm' } });
  expect(await contextOf((await log.threads.fork(id, { atSeq: -1 })).id)).toEqual([]);
});

test('the same fork again is the same thread; any other taken id is refused', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one'), user('two')]);
  const first = await log.threads.fork(id, { id: 'again', atSeq: 0 });
  expect(first.duplicate).toBe(false);
  await log.threads.append('again', [user('mine')]);
  expect(await log.threads.fork(id, { id: 'again', atSeq: 0 })).toEqual({
    id: 'again',
    rev: first.rev + 1,
    duplicate: true,
  });
  await refused(log.threads.fork(id, { id: 'again', atSeq: 1 }), 'thread_exists');
  await refused(log.threads.fork(id, { id: id }), 'thread_exists');
});

test('the same id for another lane, prompt or metadata is refused, also where the fork is empty', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one')]);
  for (const seq of [0, -1]) {
    const first = { id: `asked${seq}`, atSeq: seq, metadata: { n: 1 }, systemPrompt: 'p' };
    await log.threads.fork(id, first);
    for (const other of [{ contextRef: 'default' }, { systemPrompt: null }, { metadata: { n: 2 } }, { repair: true }])
      await refused(log.threads.fork(id, { ...first, ...other }), 'idempotency_mismatch');
    expect(await log.threads.fork(id, { ...first, repair: false })).toMatchObject({ duplicate: true });
  }
});

test('beyond the last entry, inside an open tool group and of nothing a fork is refused and leaves nothing behind', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one'), call, result]);
  const threads = () => value<string>(log.db, 'select count(*) from lanefold.thread');
  const before = await threads();
  await refused(log.threads.fork(id, { atSeq: 3 }), 'invalid_input');
  await refused(log.threads.fork(id, { atSeq: -2 }), 'invalid_input');
  await refused(log.threads.fork(id, { atSeq: 1 }), 'open_tool_group');
  await refused(log.threads.fork('nothing'), 'thread_not_found');
  await refused(log.threads.fork(id, { metadata: { a: '\0' } }), 'invalid_text');
  expect(await threads()).toBe(before);
  const repaired = await log.threads.fork(id, { atSeq: 1, repair: true });
  expect((await contextOf(repaired.id)).map(([role]) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(JSON.stringify(await contextOf(repaired.id))).toContain('missing_result');
});

test('a prompt of an anchor, an active lane and one lane alone come along', async () => {
  const id = await newThread(log, { systemPrompt: 'p' });
  await log.contexts.replace(
    id,
    { systemPrompt: 'anchored', entries: [{ role: 'user', content: 'x' }] },
    { contextRef: 'a' },
  );
  await log.contexts.switch(id, 'b');
  await log.threads.append(id, [{ ...user('y'), contextRef: 'b' }]);
  const all = await log.threads.fork(id);
  expect((await log.threads.get(all.id)).activeContextRef).toBe('b');
  expect(await contextOf(all.id, 'a')).toEqual([
    ['system', 'anchored'],
    ['user', 'x'],
  ]);
  expect(await contextOf(all.id)).toEqual([
    ['system', 'p'],
    ['user', 'y'],
  ]);
  expect((await log.threads.get((await log.threads.fork(id, { atSeq: 1 })).id)).activeContextRef).toBe('a');
  const one = await log.threads.fork(id, { contextRef: 'a', systemPrompt: 'mine' });
  expect((await log.contexts.lanes(one.id)).map((lane) => lane.contextRef)).toEqual(['a']);
  expect(await contextOf(one.id)).toEqual([
    ['system', 'mine'],
    ['user', 'x'],
  ]);
});

test('a fork of a fork has the lane that was active then, whatever the names of the lanes', async () => {
  const activeOfGrandchild = async (parent: string) => {
    const fork = await log.threads.fork(parent);
    await log.threads.append(fork.id, [user('later')]);
    const { id } = await log.threads.fork(fork.id, { atSeq: fork.rev - 1 });
    return (await log.threads.get(id)).activeContextRef;
  };
  const id = await newThread(log);
  await log.threads.append(id, [user('one'), { ...user('aside'), contextRef: 'run_x.1' }]);
  expect(await activeOfGrandchild(id)).toBe('default');
  await log.contexts.switch(id, 'an-empty-one');
  expect(await activeOfGrandchild(id)).toBe('an-empty-one');
  await log.contexts.replace(id, { entries: [] }, { contextRef: 'side', reason: 'restore' });
  expect(await activeOfGrandchild(id)).toBe('side');
});

test('a compaction that a run writes does not make its lane the active one', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one'), { ...user('aside'), contextRef: 'side' }]);
  const operation = { type: 'replace', reason: 'compaction', result_context: { entries: [] } };
  const entry = { kind: 'ai_context_operation', op_id: 'c', is_anchor: true, payload: { operation } };
  await rows(
    log.db,
    `with op as (
       insert into lanefold.context_op (thread_id, context_ref, op_id, type, reason, status, hash, entry_seq, created_at)
       values ($1, 'side', 'c', 'replace', 'compaction', 'applied', '', 2, now()))
     select lanefold._insert_entries($1, 2, now(), $2::jsonb, 'side', 'run_1')`,
    id,
    JSON.stringify([entry]),
  );
  await rows(log.db, 'update lanefold.thread set rev = rev + 1 where id = $1', id);
  await log.threads.append(id, [user('two')]);
  const fork = await log.threads.fork(id, { atSeq: 2 });
  expect((await log.threads.get(fork.id)).activeContextRef).toBe('default');
});

test('the lanes of strategies’ questions stay with the parent, unless one is named', async () => {
  const id = await newThread(log);
  const request = { run_id: 'r', request_id: 'r', request_hash: '', agent: 'a', strategy: 'tot', model: 'm' };
  await rows(log.db, 'select lanefold.enqueue_run($1, $2)', id, {
    ...request,
    input: { content: 'x' },
    busy: 'reject',
  });
  await rows(log.db, `select lanefold.cancel_run($1, 'r', null)`, id);
  await log.threads.append(id, [user('one'), { ...user('a question'), contextRef: 'r.1' }]);
  const lanesOf = async (fork: { id: string }) => (await log.contexts.lanes(fork.id)).map((lane) => lane.contextRef);
  expect(await lanesOf(await log.threads.fork(id))).toEqual(['default']);
  const named = await log.threads.fork(id, { contextRef: 'r.1' });
  expect(await contextOf(named.id)).toEqual([['user', 'a question']]);
});

test('contexts that are too large for one fork are refused before they are read', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one'.repeat(100)), { ...user('two'.repeat(100)), contextRef: 'side' }]);
  const source = (p: object) => rows(log.db, 'select lanefold.fork_source($1, $2)', id, { ...p, max_bytes: 500 });
  await refused(source({}), 'context_too_large');
  expect(await source({ context_ref: 'side' })).toHaveLength(1);
});

test('the cuts of model calls stay with the parent, whose entries they name', async () => {
  const id = await newThread(log);
  const draft = {
    kind: 'ai_message',
    payload: { role: 'assistant', content: 'a' },
    refs: { dropped: [[0, 1]], policy_hash: 'h', mine: 1 },
  };
  await rows(log.db, 'select lanefold.append_entries($1, $2::jsonb)', id, JSON.stringify([draft]));
  const { id: fork } = await log.threads.fork(id);
  expect(await log.contexts.project(fork)).toMatchObject([{ content: 'a', refs: { mine: 1 } }]);
});

test('the state of tools is that of the entry', async () => {
  const id = await newThread(log);
  for (const [seq, n] of [1, 2].entries()) {
    const effects = JSON.stringify([{ op: 'set', value: { n } }]);
    await rows(log.db, 'select lanefold._write_effects($1, $2, now(), null, null, 1, $3::jsonb)', id, seq, effects);
    await rows(log.db, 'update lanefold.thread set rev = rev + 1 where id = $1', id);
  }
  const then = await log.threads.fork(id, { atSeq: 0 });
  expect((await log.threads.get(then.id)).state).toEqual({ n: 1 });
  expect(await value(log.db, 'select lanefold.thread_state_at($1, 9)', then.id)).toEqual({ n: 1 });
  expect((await log.threads.get((await log.threads.fork(id)).id)).state).toEqual({ n: 2 });
});

test('a diff tells what two contexts share, of threads, lanes and entries', async () => {
  const id = await newThread(log, { systemPrompt: 'p' });
  await log.threads.append(id, [user('one'), user('two'), user('three')]);
  const fork = await log.threads.fork(id, { atSeq: 2 });
  await log.threads.append(fork.id, [user('other')]);
  const diff = await log.contexts.diff({ threadId: id }, { threadId: fork.id });
  expect(diff.map((row) => [row.change, row.seq, row.other_seq, row.content])).toEqual([
    ['same', 0, 0, 'p'],
    ['same', 1, 1, 'one'],
    ['same', 2, 1, 'two'],
    ['removed', 3, null, 'three'],
    ['added', null, 2, 'other'],
  ]);
  await log.contexts.replace(id, {
    entries: [
      { role: 'user', content: 'short' },
      { role: 'user', content: 'three' },
    ],
  });
  const compacted = await log.contexts.diff({ threadId: id, atSeq: 3 }, { threadId: id });
  expect(compacted.map((row) => [row.change, row.ordinal, row.other_ordinal])).toEqual([
    ['same', 0, 0],
    ['removed', 1, null],
    ['removed', 2, null],
    ['added', null, 1],
    ['same', 3, 2],
  ]);
  await refused(log.contexts.diff({ threadId: id }, { threadId: 'nothing' }), 'thread_not_found');
});
