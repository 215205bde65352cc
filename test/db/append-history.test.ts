import { describe, expect, test } from 'vitest';
import { appendHistory, type HistoryAppend, type LaneChange } from '../../src/database/store/log/append-history.ts';
import { readEnds } from '../../src/database/store/history/read-appended.ts';
import { everythingOf, newThread, refused, rows, useLog } from './helpers.ts';
import { sqlRun } from './sql-run.ts';

const log = useLog();

const user = (content: string) => ({ role: 'user' as const, content });
const onLane = (lastSeq: number, change: Omit<LaneChange, 'contextRef' | 'lastSeq'>): LaneChange => ({
  contextRef: 'history',
  lastSeq,
  ...change,
});
let keys = 0;
const append = (threadId: string, lane?: LaneChange, more: Partial<HistoryAppend> = {}) =>
  appendHistory(log.db, threadId, {
    entry: { kind: 'history', contextRef: 'history', payload: { n: 1 } },
    lane,
    idempotencyKey: `key-${keys++}`,
    hash: 'h',
    ...more,
  });
const contextOf = async (threadId: string) =>
  (await log.contexts.project(threadId, { contextRef: 'history' })).map(({ role, content }) => [role, content]);
/** Carries out a call that is refused and must change nothing. */
async function changesNothing(threadId: string, call: () => Promise<void>): Promise<void> {
  const before = await everythingOf(log.db, threadId);
  await call();
  expect(await everythingOf(log.db, threadId)).toEqual(before);
}

test('the entry comes first, then its messages; a replace comes before it', async () => {
  const threadId = await newThread(log);
  expect(await append(threadId, onLane(-1, { append: [user('a'), user('b')] }))).toEqual({
    firstSeq: 0,
    rev: 3,
    duplicate: false,
  });
  const replace = { systemPrompt: 'Be short.', messages: [user('b')] };
  expect(await append(threadId, onLane(2, { replace }))).toMatchObject({ firstSeq: 4, rev: 5 });
  expect(await append(threadId, onLane(3, { append: [] }))).toMatchObject({ firstSeq: 5, rev: 6 });
  expect(await append(threadId)).toMatchObject({ firstSeq: 6, rev: 7 });
  const kinds = (await log.threads.entries(threadId)).map(({ kind }) => kind);
  expect(kinds).toEqual(['history', 'ai_message', 'ai_message', 'ai_context_operation', ...Array(3).fill('history')]);
  expect(await contextOf(threadId)).toEqual([
    ['system', 'Be short.'],
    ['user', 'b'],
  ]);
  expect(await readEnds(log.db, threadId, 'history')).toEqual({ rev: 7, laneSeq: 3, erased: false, forkOf: null });
  // a replace here is no switch
  expect((await log.threads.peek(threadId)).activeContextRef).toBe('default');
});

test('a repeated key changes nothing, wherever the lane ends by then', async () => {
  const threadId = await newThread(log);
  const again = { idempotencyKey: 'once', hash: 'one' };
  const first = await append(threadId, onLane(-1, { append: [user('a')] }), again);
  await append(threadId, onLane(1, { append: [user('b')] }));
  await changesNothing(threadId, async () => {
    const repeated = await append(threadId, onLane(-1, { append: [user('a')] }), again);
    expect(repeated).toEqual({ ...first, rev: 4, duplicate: true });
    const other = append(threadId, onLane(3, { append: [] }), { ...again, hash: 'two' });
    await refused(other, 'idempotency_mismatch');
  });
});

describe('refuses, and writes nothing,', () => {
  test('what does not fit the lane', async () => {
    const threadId = await newThread(log);
    await append(threadId, onLane(-1, { append: [user('a')] }));
    const open = { role: 'assistant' as const, content: '', tool_calls: [{ id: 'c', name: 'f', arguments: {} }] };
    const replace = (...messages: (typeof open | ReturnType<typeof user>)[]) =>
      onLane(1, { replace: { systemPrompt: undefined, messages } });
    await changesNothing(threadId, async () => {
      await refused(append(threadId, onLane(-1, { append: [user('b')] })), 'rev_conflict');
      await refused(append(threadId, onLane(0, { replace: { systemPrompt: null, messages: [] } })), 'rev_conflict');
      await refused(append(threadId, onLane(1, { append: [] }), { expectedRev: 1 }), 'rev_conflict');
      await refused(append(threadId, onLane(1, { append: [open] })), 'open_tool_group');
      await refused(append(threadId, replace(open)), 'open_tool_group');
      await refused(append(threadId, replace({ ...user('x'), role: 'other' as 'user' })), 'invalid_input');
      await refused(append(threadId, { ...replace(user('b')), contextRef: 'no spaces' }), 'invalid_id');
      // the lane is refused after its replace: both go
      const reserved = { kind: 'ai_state_change', contextRef: 'history', payload: {} };
      await refused(append(threadId, replace(user('b')), { entry: reserved }), 'reserved_kind');
      log.db.settings.maxContextBytes = 2_000;
      await refused(append(threadId, replace(user('x'.repeat(3_000)))), 'context_too_large');
      await refused(append(threadId, onLane(1, { append: [user('x'.repeat(3_000))] })), 'context_too_large');
      log.db.settings.maxContextBytes = undefined;
    });
  });

  test('a lane with an active run, but not another lane', async () => {
    const threadId = await newThread(log);
    await append(threadId, onLane(-1, { append: [user('a')] }));
    await sqlRun(log.db, threadId, 'r').enqueue({ contextRef: 'history' });
    await changesNothing(threadId, async () => {
      await refused(append(threadId, onLane(1, { append: [user('b')] })), 'lane_busy');
      await refused(append(threadId, onLane(1, { replace: { systemPrompt: null, messages: [] } })), 'lane_busy');
    });
    await append(threadId, onLane(1, { append: [] }));
    const other = { contextRef: 'other', lastSeq: -1, replace: { systemPrompt: undefined, messages: [user('c')] } };
    await append(threadId, other);
    expect(await contextOf(threadId)).toEqual([['user', 'a']]);
    const lanes = await rows(log.db, 'select * from lanefold.lanes_from_log($1)', threadId);
    expect(lanes.map((lane) => lane['context_ref']).sort()).toEqual(['history', 'other']);
  });
});
