import { describe, expect, test } from 'vitest';
import type { NewEntry } from '../../src/runs/operations/threads/append.ts';
import { everythingOf, newThread, refused, rows, value, useLog } from './helpers.ts';
import { answer, sqlRun } from './sql-run.ts';

const log = useLog();

const user = (content: string, contextRef?: string): NewEntry => ({
  message: { role: 'user', content },
  ...(contextRef ? { contextRef } : {}),
});

/** Carries out a call that is refused and must change nothing. */
async function changesNothing(threadId: string, call: () => Promise<void>): Promise<void> {
  const before = await everythingOf(log.db, threadId);
  await call();
  expect(await everythingOf(log.db, threadId)).toEqual(before);
}

test('entries take the next seqs in the order given, each on its lane', async () => {
  const threadId = await newThread(log);
  expect(
    await log.threads.append(threadId, [
      user('a'),
      user('b', 'plan'),
      { kind: 'note', payload: { n: 1 }, refs: { mine: 1 } },
    ]),
  ).toEqual({
    firstSeq: 0,
    rev: 3,
    duplicate: false,
  });
  expect(await log.threads.append(threadId, [user('c')])).toMatchObject({ firstSeq: 3, rev: 4 });
  expect(await log.threads.entries(threadId)).toMatchObject([
    {
      seq: 0,
      kind: 'ai_message',
      contextRef: 'default',
      role: 'user',
      payload: { content: 'a', role: 'user', context_ref: 'default' },
    },
    { seq: 1, contextRef: 'plan', payload: { content: 'b' } },
    { seq: 2, kind: 'note', contextRef: null, role: null, payload: { n: 1 }, refs: { mine: 1 } },
    { seq: 3, payload: { content: 'c' } },
  ]);
  expect(await log.threads.entries(threadId, { after: 0, limit: 2 })).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  expect(await log.threads.entries(threadId, { kind: 'note' })).toMatchObject([{ seq: 2 }]);
  expect(await log.threads.entries(threadId, { contextRef: 'plan' })).toMatchObject([{ seq: 1 }]);
});

test('in SQL too an entry without a kind is a note, and without a payload has an empty one', async () => {
  const threadId = await newThread(log);
  const append = (entries: unknown, options = {}) =>
    value(log.db, 'select lanefold.append_entries($1, $2, $3)', threadId, JSON.stringify(entries), options);
  await append([{}, { kind: 'rating' }]);
  await append([{ refs: { mine: 1 } }, { kind: null, payload: null }], { repair: true });
  await log.threads.append(threadId, [{}]);
  const stored = await rows(
    log.db,
    'select kind, payload, refs from lanefold._entry where thread_id = $1 order by seq',
    threadId,
  );
  const note = { kind: 'note', payload: {}, refs: null };
  expect(stored).toEqual([note, { ...note, kind: 'rating' }, { ...note, refs: { mine: 1 } }, note, note]);
  for (const entry of [1, 'x', null, [], { kind: '' }, { kind: 'ai_state_change' }])
    await changesNothing(threadId, () =>
      expect(append([{}, entry])).rejects.toThrow(/not an object|reserved or empty kind/),
    );
});

test('appending no entries changes nothing', async () => {
  const threadId = await newThread(log);
  await changesNothing(threadId, async () => {
    expect(await log.threads.append(threadId, [])).toEqual({ firstSeq: 0, rev: 0, duplicate: false });
  });
});

describe('expected_rev', () => {
  test('the current rev is taken, any other refused', async () => {
    const threadId = await newThread(log);
    expect(await log.threads.append(threadId, [user('a')], { expectedRev: 0 })).toMatchObject({ rev: 1 });
    await changesNothing(threadId, async () => {
      await refused(log.threads.append(threadId, [user('b')], { expectedRev: 0 }), 'rev_conflict');
      await refused(log.threads.append(threadId, [user('b')], { expectedRev: 2 }), 'rev_conflict');
    });
    expect(await log.threads.append(threadId, [user('b')], { expectedRev: 1 })).toMatchObject({ firstSeq: 1, rev: 2 });
  });
});

describe('idempotency key', () => {
  test('the same key and body answer as the first time, also later, also against a rev that has moved', async () => {
    const threadId = await newThread(log);
    const options = { opId: 'k', expectedRev: 0 };
    await log.threads.append(threadId, [user('a'), user('b')], options);
    await log.threads.append(threadId, [user('c')]);
    await changesNothing(threadId, async () => {
      expect(await log.threads.append(threadId, [user('a'), user('b')], options)).toEqual({
        firstSeq: 0,
        rev: 3,
        duplicate: true,
      });
    });
  });

  test('another body under the same key is refused', async () => {
    const threadId = await newThread(log);
    await log.threads.append(threadId, [user('a')], { opId: 'k' });
    await changesNothing(threadId, async () => {
      await refused(log.threads.append(threadId, [user('A')], { opId: 'k' }), 'idempotency_mismatch');
      await refused(log.threads.append(threadId, [user('a'), user('b')], { opId: 'k' }), 'idempotency_mismatch');
    });
  });

  test('is a thread’s own, and a refused append does not use it up', async () => {
    const [one, other] = [await newThread(log), await newThread(log)];
    await refused(log.threads.append(one, [user('a')], { opId: 'k', expectedRev: 7 }), 'rev_conflict');
    expect(await log.threads.append(one, [user('b')], { opId: 'k' })).toMatchObject({ duplicate: false });
    expect(await log.threads.append(other, [user('c')], { opId: 'k' })).toMatchObject({ duplicate: false });
  });

  test('a key that a deferred operation also uses does not keep the run from ending', async () => {
    const threadId = await newThread(log);
    const run = sqlRun(log.db, threadId, 'run');
    await run.enqueue();
    await run.claim();
    await log.contexts.switch(threadId, 'plan', { opId: 'same' });
    await log.threads.append(threadId, [{ kind: 'note', payload: {} }], { opId: 'same' }).catch(() => {});
    expect(await run.commit(0, answer('done'))).toMatchObject({ finished: true });
    expect(await log.threads.get(threadId)).toMatchObject({ activeContextRef: 'plan' });
  });
});

describe('what may not be appended', () => {
  test.each([
    'ai_context_operation',
    'ai_config_change',
    'ai_state_change',
    'langgraph_checkpoint',
    'langgraph_writes',
    'openai_agents_items',
  ])('the reserved kind %s', async (kind) => {
    const threadId = await newThread(log);
    await changesNothing(threadId, () =>
      refused(log.threads.append(threadId, [user('a'), { kind, payload: {} }]), 'reserved_kind'),
    );
  });

  test.each(['langgraph.c.root.1', 'langgraph.w.root.1.x', 'openai_agents.x'])('the reserved key %s', async (key) => {
    const threadId = await newThread(log);
    await changesNothing(threadId, () =>
      refused(log.threads.append(threadId, [user('a')], { opId: key }), 'reserved_kind'),
    );
  });

  test('an entry of an own kind that claims in SQL to be an anchor, a message or a run’s', async () => {
    const threadId = await newThread(log);
    await log.threads.append(threadId, [user('a')]);
    const forged = {
      kind: 'note',
      context_ref: 'default',
      payload: { x: 1 },
      is_anchor: true,
      role: 'assistant',
      op_id: 'o',
      run_id: 'r',
      request_id: 'q',
    };
    await value(log.db, 'select lanefold.append_entries($1, $2)', threadId, JSON.stringify([forged]));
    expect(
      await rows(
        log.db,
        'select kind, role, op_id, run_id, request_id, is_anchor, payload from lanefold.thread_entry where thread_id = $1 and seq = 1',
        threadId,
      ),
    ).toEqual([
      { kind: 'note', role: null, op_id: null, run_id: null, request_id: null, is_anchor: false, payload: { x: 1 } },
    ]);
    expect(await log.contexts.project(threadId)).toMatchObject([{ content: 'a' }]);
  });

  test('anything to a thread that does not exist', () =>
    refused(log.threads.append('never-made', [user('a')]), 'thread_not_found'));

  const bad: [string, unknown][] = [
    ['a role that is not a message’s', { message: { role: 'system', content: 'x' } }],
    ['no role', { message: { content: 'x' } }],
    ['a message that is null', { message: null }],
    ['content that is an object', { message: { role: 'user', content: { a: 1 } } }],
    [
      'calls of a user',
      { message: { role: 'user', content: 'x', tool_calls: [{ id: 'c', name: 'n', arguments: {} }] } },
    ],
    ['calls that are no list', { message: { role: 'assistant', content: 'x', tool_calls: {} } }],
    ['a name that is not text', { message: { role: 'user', content: 'x', name: 5 } }],
    ['thinking that is not text', { message: { role: 'assistant', content: 'x', thinking: { a: 1 } } }],
    ['an own payload that is a list', { kind: 'note', payload: [] }],
    ['a lane that is no id', { message: { role: 'user', content: 'x' }, contextRef: 'no spaces' }],
    ['a kind that is no id', { kind: 'no spaces', payload: {} }],
    ['NUL in text', user('a\u0000b')],
    ['a lone surrogate in text', user('a\ud800b')],
    ['NUL in a key of an own payload', { kind: 'note', payload: { 'a\u0000': 1 } }],
    ['a lone surrogate in refs', { kind: 'note', payload: {}, refs: { a: ['\udfff'] } }],
  ];
  test.each(bad)('%s: the whole batch stays out', async (_, entry) => {
    const threadId = await newThread(log);
    await changesNothing(threadId, async () => {
      const attempt = async () => log.threads.append(threadId, [user('good'), entry as NewEntry, user('good', 'plan')]);
      await expect(attempt()).rejects.toMatchObject({ name: 'LanefoldError', hint: expect.stringMatching(/\w/) });
    });
  });

  test.each(['', '-a', 'a b', 'ä', 'a/b', 'x'.repeat(129), 'a\u0000'])('under the id %j', async (id) => {
    await refused(log.threads.append(id, [user('a')]), 'invalid_id');
    await refused(log.threads.create({ id }), 'invalid_id');
    await refused(log.threads.get(id), 'invalid_id');
    const threadId = await newThread(log);
    await refused(log.threads.append(threadId, [user('a')], { opId: id }), 'invalid_id');
  });

  test('ids at the limits are ids', async () => {
    for (const id of ['x'.repeat(128), 'A', '0._:@-']) {
      expect(await log.threads.create({ id })).toEqual({ id, rev: 0 });
      await refused(log.threads.create({ id }), 'thread_exists');
    }
  });
});

describe('a lane with an active run', () => {
  test.each(['queued', 'running'])(
    'is closed to messages while the run is %s; other lanes and own kinds are not',
    async (status) => {
      const threadId = await newThread(log);
      const run = sqlRun(log.db, threadId, 'run');
      await run.enqueue({ contextRef: 'plan' });
      if (status === 'running') await run.claim();
      await changesNothing(threadId, async () => {
        await refused(log.threads.append(threadId, [user('a', 'plan')]), 'lane_busy');
        await refused(log.threads.append(threadId, [user('a'), user('b', 'plan')]), 'lane_busy');
      });
      await log.threads.append(threadId, [user('a'), { kind: 'note', contextRef: 'plan', payload: {} }]);
      await run.cancel();
      if (status === 'running') await run.commit(0, answer('done'));
      await log.threads.append(threadId, [user('b', 'plan')]);
    },
  );
});
