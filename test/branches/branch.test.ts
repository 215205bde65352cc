import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { everythingOf, newThread, refused, rows, useLog, value } from '../db/helpers.ts';
import { answer, asks, results, sqlRun, type Receipt } from '../db/sql-run.ts';

const log = useLog();

const user = (content: string) => ({ message: { role: 'user' as const, content } });
const says = (content: string) => ({ message: { role: 'assistant' as const, content } });
const call = {
  message: { role: 'assistant' as const, content: '', tool_calls: [{ id: 'a', name: 'add', arguments: {} }] },
};
const result = { message: { role: 'tool' as const, content: '7', tool_call_id: 'a', name: 'add' } };

const contents = async (id: string, contextRef?: string) =>
  (await log.contexts.project(id, contextRef === undefined ? {} : { contextRef })).map((row) => row.content);
const active = async (id: string) => (await log.threads.get(id)).activeContextRef;
const tree = async (id: string) =>
  (await log.threads.tree(id, { limit: 1_000 })).data.map(({ seq, parentSeq, siblings, place }) => [
    seq,
    parentSeq,
    `${place}/${siblings}`,
  ]);
/** Calls the function, with a run that has this id. */
const branch = (threadId: string, p: JsonObject, run?: string) =>
  value<Receipt>(log.db, 'select lanefold.branch($1, $2)', threadId, {
    op_id: run ?? 'b',
    hash: 'aa',
    ...p,
    ...(run === undefined
      ? {}
      : {
          run: {
            run_id: run,
            request_id: run,
            request_hash: 'aa',
            agent: 'agent',
            strategy: 'react',
            model: 'scripted:x',
            ...(p['input'] === undefined ? {} : { input: { content: p['input'] } }),
          },
        }),
  });

/** Two questions with their answers: the entries 0 to 3. */
async function conversation(): Promise<string> {
  const id = await newThread(log);
  await log.threads.append(id, [user('one'), says('first'), user('two'), says('second')]);
  return id;
}

describe('a branch', () => {
  test('begins with the context after an entry, is shown, and leaves the other lane as it was', async () => {
    const id = await conversation();
    const made = await log.threads.branch(id, { afterSeq: 1 });
    expect(made).toMatchObject({
      contextRef: 'default@2',
      seq: 4,
      parent: { contextRef: 'default', afterSeq: 1, parentSeq: 1 },
      shown: true,
      duplicate: false,
      run: null,
    });
    await log.threads.append(id, [{ ...user('zwei'), contextRef: 'default@2' }]);
    expect(await active(id)).toBe('default@2');
    expect(await contents(id)).toEqual(['one', 'first', 'zwei']);
    expect(await contents(id, 'default')).toEqual(['one', 'first', 'two', 'second']);
    expect(await tree(id)).toEqual([
      [0, null, '1/1'],
      [1, 0, '1/1'],
      [2, 1, '1/2'],
      [3, 2, '1/1'],
      [5, 1, '2/2'],
    ]);
    expect(await log.threads.branches(id)).toMatchObject([
      { contextRef: 'default', parentContextRef: null, shown: false, rootContextRef: 'default' },
      {
        contextRef: 'default@2',
        parentContextRef: 'default',
        branchedAfterSeq: 1,
        branchSeq: 4,
        shown: true,
        lastSeq: 5,
      },
    ]);
    await log.contexts.switch(id, 'default');
    expect(await contents(id)).toEqual(['one', 'first', 'two', 'second']);
  });

  test('of a branch has the messages of the lanes before it, wherever it leaves them', async () => {
    const id = await conversation();
    const one = await log.threads.branch(id, { afterSeq: 1 });
    await log.threads.append(id, [{ ...user('zwei'), contextRef: one.contextRef }]);
    // the first question is on another lane, which the branch has left after it
    const two = await log.threads.branch(id, { afterSeq: -1, contextRef: one.contextRef });
    expect(two.parent).toEqual({ contextRef: 'default', afterSeq: -1, parentSeq: null });
    await log.threads.append(id, [{ ...user('eins'), contextRef: two.contextRef }]);
    expect(await contents(id)).toEqual(['eins']);
    const three = await log.threads.branch(id, { afterSeq: 0, contextRef: one.contextRef });
    expect(three.parent).toMatchObject({ contextRef: 'default', afterSeq: 0 });
    // at its anchor, a branch has no message of its own
    const four = await log.threads.branch(id, { afterSeq: one.seq });
    expect(four.parent).toEqual({ contextRef: one.contextRef, afterSeq: one.seq, parentSeq: 1 });
    await log.threads.append(id, [{ ...user('drei'), contextRef: four.contextRef }]);
    const shown = new Map((await tree(id)).map(([seq, parent, place]) => [seq, [parent, place]]));
    expect(shown.get(0)).toEqual([null, '1/2']);
    expect(shown.get(7)).toEqual([null, '2/2']);
    expect([shown.get(2), shown.get(5), shown.get(10)]).toEqual([
      [1, '1/3'],
      [1, '2/3'],
      [1, '3/3'],
    ]);
  });

  test('lanes that are no branches of each other have trees of their own', async () => {
    const id = await conversation();
    await log.threads.append(id, [{ ...user('aside'), contextRef: 'side' }]);
    expect((await tree(id)).at(-1)).toEqual([4, null, '1/1']);
    await log.threads.branch(id, { afterSeq: -1, contextRef: 'side', lane: 'mine' });
    await log.threads.append(id, [{ ...user('again'), contextRef: 'mine' }]);
    expect((await tree(id)).filter(([, parent]) => parent === null)).toEqual([
      [0, null, '1/1'],
      [4, null, '1/2'],
      [6, null, '2/2'],
    ]);
  });

  test('has the settings of its lane as they were, and those of the thread as they are', async () => {
    const id = await newThread(log, { systemPrompt: 'of the thread' });
    await log.threads.configure(id, { contextRef: 'default', systemPrompt: 'of the lane', toolContext: { unit: 'm' } });
    await log.threads.append(id, [user('one'), says('first')]);
    await log.threads.configure(id, { contextRef: 'default', systemPrompt: 'later', toolContext: { unit: 'km' } });
    const one = await log.threads.branch(id, { afterSeq: 3 });
    expect(await contents(id, one.contextRef)).toEqual(['of the lane', 'one']);
    expect(await log.threads.config(id, { contextRef: one.contextRef })).toMatchObject({ toolContext: { unit: 'm' } });
    await log.threads.configure(id, { systemPrompt: 'for all' });
    const two = await log.threads.branch(id, { afterSeq: 3 });
    expect(await contents(id, two.contextRef)).toEqual(['for all', 'one']);
    expect(await log.threads.config(id, { contextRef: two.contextRef })).toMatchObject({ toolContext: { unit: 'm' } });
  });

  test('keeps a prompt of an anchor, unless the thread has had another one since', async () => {
    const id = await newThread(log);
    await log.contexts.replace(id, { systemPrompt: 'anchored', entries: [{ role: 'user', content: 'x' }] });
    const one = await log.threads.branch(id, { afterSeq: 0 });
    expect(await contents(id, one.contextRef)).toEqual(['anchored', 'x']);
    await log.threads.configure(id, { systemPrompt: 'for all' });
    const two = await log.threads.branch(id, { afterSeq: 0 });
    expect(await contents(id, two.contextRef)).toEqual(['for all', 'x']);
  });

  test('is refused inside a tool group, beyond the log, from a lane that is not there, and onto one that is', async () => {
    const id = await newThread(log);
    await log.threads.append(id, [user('one'), call, result, says('7')]);
    const before = await everythingOf(log.db, id);
    await refused(log.threads.branch(id, { afterSeq: 1 }), 'open_tool_group');
    await refused(log.threads.branch(id, { afterSeq: 4 }), 'invalid_input');
    await refused(log.threads.branch(id, { afterSeq: -2 }), 'invalid_input');
    await refused(log.threads.branch(id, { afterSeq: 0, contextRef: 'nowhere' }), 'invalid_input');
    await refused(log.threads.branch(id, { afterSeq: 0, lane: 'default' }), 'invalid_operation');
    await refused(log.threads.branch(id, { afterSeq: 0, lane: 'no lane' }), 'invalid_id');
    await refused(log.threads.branch(id, { afterSeq: 0, maxCost: 1 }), 'invalid_input');
    await refused(log.threads.branch('nothing', { afterSeq: 0 }), 'thread_not_found');
    expect(await everythingOf(log.db, id)).toEqual(before);
    expect(await log.threads.branch(id, { afterSeq: 2 })).toMatchObject({ parent: { parentSeq: 2 } });
  });

  test('is made once for each key', async () => {
    const id = await conversation();
    const first = await log.threads.branch(id, { afterSeq: 1, opId: 'k' });
    await log.contexts.switch(id, 'default');
    expect(await log.threads.branch(id, { afterSeq: 1, opId: 'k' })).toEqual({
      ...first,
      shown: false,
      duplicate: true,
    });
    await refused(log.threads.branch(id, { afterSeq: 2, opId: 'k' }), 'idempotency_mismatch');
    expect(await log.threads.branches(id)).toHaveLength(2);
  });

  test('names fit into ids', async () => {
    const id = await newThread(log);
    const long = 'x'.repeat(128);
    await log.threads.append(id, [{ ...user('one'), contextRef: long }]);
    const names = [];
    for (let n = 0; n < 9; n++) names.push((await log.threads.branch(id, { afterSeq: 0 })).contextRef);
    expect(names.at(0)).toBe(`${'x'.repeat(126)}@2`);
    expect(names.at(-1)).toBe(`${'x'.repeat(125)}@10`);
  });

  test('with show: false, the log says that another lane stayed the active one', async () => {
    const id = await conversation();
    const quiet = await log.threads.branch(id, { afterSeq: 1, show: false });
    expect(quiet.shown).toBe(false);
    expect(await active(id)).toBe('default');
    await log.threads.append(id, [{ ...user('more'), contextRef: quiet.contextRef }]);
    const fork = await log.threads.fork(id, { atSeq: 4 });
    expect(await active(fork.id)).toBe('default');
    const loud = await log.threads.branch(id, { afterSeq: 1 });
    await log.contexts.switch(id, 'default');
    expect(await active((await log.threads.fork(id, { atSeq: loud.seq })).id)).toBe(loud.contextRef);
  });

  test('compacting, replacing and erasing: the tree stays, and the other branches are left alone', async () => {
    const id = await conversation();
    const { contextRef } = await log.threads.branch(id, { afterSeq: 1 });
    await log.threads.append(id, [
      { ...user('zwei'), contextRef },
      { ...says('zweite'), contextRef },
    ]);
    const before = await tree(id);
    await log.contexts.replace(
      id,
      { entries: [{ role: 'user', content: 'short' }] },
      { contextRef, reason: 'compaction', baseSeq: 6 },
    );
    expect(await tree(id)).toEqual(before);
    expect(await contents(id, contextRef)).toEqual(['short']);
    expect(await contents(id, 'default')).toEqual(['one', 'first', 'two', 'second']);
    await log.threads.append(id, [{ ...user('drei'), contextRef }]);
    expect((await tree(id)).at(-1)).toEqual([8, 6, '1/1']);
    // after the compaction, a branch has what it left; before it, what was said
    const short = await log.threads.branch(id, { afterSeq: 7 });
    expect(await contents(id, short.contextRef)).toEqual(['short']);
    const long = await log.threads.branch(id, { afterSeq: 6 });
    expect(await contents(id, long.contextRef)).toEqual(['one', 'first', 'zwei', 'zweite']);
    await log.threads.erase(id);
    await refused(log.threads.branches(id), 'thread_erased');
    await refused(log.threads.tree(id), 'thread_erased');
  });

  test('a fork has the contexts of all branches', async () => {
    const id = await conversation();
    const { contextRef } = await log.threads.branch(id, { afterSeq: 1 });
    await log.threads.append(id, [{ ...user('zwei'), contextRef }]);
    const fork = await log.threads.fork(id);
    expect(await contents(fork.id)).toEqual(['one', 'first', 'zwei']);
    expect(await contents(fork.id, 'default')).toEqual(['one', 'first', 'two', 'second']);
    // a name that the branch of the fork may take
    expect((await log.threads.branch(fork.id, { afterSeq: fork.rev - 1 })).contextRef).toBe('default@3');
  });
});

describe('a branch with a run', () => {
  test('asks an edited question', async () => {
    const id = await conversation();
    const made = await branch(id, { after_seq: 1, input: 'zwei' }, 'edit');
    expect(made).toMatchObject({ context_ref: 'default@2', shown: true, run: { run_id: 'edit', status: 'queued' } });
    const run = sqlRun(log.db, id, 'edit');
    const { context } = await run.claim();
    expect((context as Receipt[]).map(({ content }) => content as string)).toEqual(['one', 'first', 'zwei']);
    await run.commit(0, answer('zweite'));
    expect(await tree(id)).toContainEqual([5, 1, '2/2']);
    expect(await branch(id, { after_seq: 1, input: 'zwei' }, 'edit')).toMatchObject({
      duplicate: true,
      seq: made['seq'],
      run: { run_id: 'edit', status: 'completed', duplicate: true },
    });
  });

  test('answers a question again: the question has no copy, and its answers are siblings', async () => {
    const id = await conversation();
    await branch(id, { after_seq: 2 }, 'again');
    const run = sqlRun(log.db, id, 'again');
    const { context, user_seq: userSeq } = await run.claim();
    expect((context as Receipt[]).map(({ content }) => content as string)).toEqual(['one', 'first', 'two']);
    expect(userSeq).toBeNull();
    await run.commit(0, answer('other'));
    expect(await tree(id)).toEqual([
      [0, null, '1/1'],
      [1, 0, '1/1'],
      [2, 1, '1/1'],
      [3, 2, '1/2'],
      [5, 2, '2/2'],
    ]);
    await expect(branch(id, { after_seq: 3 }, 'of-an-answer')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('an answer that failed is taken back like any other', async () => {
    const id = await conversation();
    await value(log.db, 'select lanefold.branch($1, $2)', id, {
      op_id: 'again',
      hash: 'aa',
      after_seq: 2,
      run: {
        run_id: 'again',
        request_id: 'again',
        request_hash: 'aa',
        agent: 'agent',
        strategy: 'react',
        model: 'scripted:x',
        options: { on_failure: 'rewind' },
      },
    });
    const run = sqlRun(log.db, id, 'again');
    await run.claim();
    await run.commit(0, asks(['a']));
    await run.record(1, 0, { status: 'ok', attempts: 1, outcome: { content: 'x' } });
    await run.commit(1, results(['a']));
    await value(log.db, 'select lanefold.finish_run($1, $2, 1, $3)', id, 'again', {
      status: 'failed',
      reason: 'error',
    });
    expect(await contents(id)).toEqual(['one', 'first', 'two']);
  });

  test('with a request that was accepted before, without the branch, is refused', async () => {
    const id = await conversation();
    await sqlRun(log.db, id, 'known').enqueue();
    await refused(branch(id, { after_seq: 1, input: 'zwei', busy: 'wait' }, 'known'), 'idempotency_mismatch');
  });
});

describe('while a run is active', () => {
  /** A thread whose run `first` a worker holds, or that is queued. */
  async function busy(claimed = true) {
    const id = await conversation();
    const first = sqlRun(log.db, id, 'first');
    await first.enqueue({ input: 'three' });
    if (claimed) await first.claim();
    return { id, first };
  }

  test('a branch is refused, and changes nothing', async () => {
    const { id } = await busy();
    const before = await everythingOf(log.db, id);
    await refused(branch(id, { after_seq: 1 }), 'thread_busy');
    await refused(branch(id, { after_seq: 1, input: 'zwei' }, 'edit'), 'thread_busy');
    expect(await everythingOf(log.db, id)).toEqual(before);
  });

  test('its run waits, and shows the branch when its turn comes, not before', async () => {
    const { id, first } = await busy();
    const queued = sqlRun(log.db, id, 'before');
    await value(log.db, 'select lanefold.enqueue_run($1, $2)', id, {
      run_id: 'before',
      request_id: 'before',
      request_hash: 'bb',
      agent: 'agent',
      strategy: 'react',
      model: 'scripted:x',
      busy: 'wait',
      input: { content: 'four' },
    });
    const made = await branch(id, { after_seq: 1, input: 'zwei', busy: 'wait' }, 'edit');
    expect(made).toMatchObject({ context_ref: 'default@2', shown: false, run: { status: 'waiting' } });
    expect(await contents(id, 'default@2')).toEqual(['one', 'first']);
    await first.commit(0, answer('third'));
    expect(await active(id)).toBe('default');
    await queued.claim({ enqueueNo: 1 });
    await queued.commit(0, answer('fourth'));
    expect(await active(id)).toBe('default@2');
    expect(await contents(id, 'default')).toEqual([
      'one',
      'first',
      'two',
      'second',
      'three',
      'third',
      'four',
      'fourth',
    ]);
    const [shows] = await rows(
      log.db,
      `select seq::int, payload -> 'operation' ->> 'type' as type from lanefold.thread_entry
       where thread_id = $1 and context_ref = 'default@2' and op_id like 'show/%'`,
      id,
    );
    expect(shows).toMatchObject({ type: 'switch' });
    // the log says since when
    const { seq } = shows as unknown as { seq: number };
    expect(await value(log.db, 'select lanefold._active_lane_at($1, $2)', id, seq - 1)).toBe('default');
    expect(await value(log.db, 'select lanefold._active_lane_at($1, $2)', id, seq)).toBe('default@2');
    const run = sqlRun(log.db, id, 'edit');
    await run.claim();
    await run.commit(0, answer('zweite'));
    expect(await contents(id)).toEqual(['one', 'first', 'zwei', 'zweite']);
  });

  test('its run interrupts, and is the next', async () => {
    for (const claimed of [true, false]) {
      const { id, first } = await busy(claimed);
      const made = await branch(id, { after_seq: 1, input: 'zwei', busy: 'interrupt' }, 'edit');
      if (claimed) {
        expect(made).toMatchObject({ shown: false, run: { status: 'waiting' } });
        await first.commit(0, answer('third'));
      } else {
        expect(made).toMatchObject({ shown: true, run: { status: 'queued', ended: 'first' } });
      }
      expect(await active(id)).toBe('default@2');
      expect(await value(log.db, "select status from lanefold.run where thread_id = $1 and id = 'first'", id)).toBe(
        'cancelled',
      );
    }
  });

  test('a branch without a run is shown when the active run has ended, and no change of a context displaces it', async () => {
    const { id, first } = await busy();
    await log.contexts.replace(id, { entries: [{ role: 'user', content: 'x' }] }, { contextRef: 'side', opId: 'o' });
    const made = await branch(id, { after_seq: 1, busy: 'wait' });
    expect(made['shown']).toBe(false);
    expect(await active(id)).toBe('default');
    await first.commit(0, answer('third'));
    expect(await active(id)).toBe('default@2');
    expect(await contents(id, 'side')).toEqual(['x']);
  });

  test('what is chosen last is shown', async () => {
    const { id, first } = await busy();
    await branch(id, { after_seq: 1, busy: 'wait' });
    await log.contexts.switch(id, 'default');
    await first.commit(0, answer('third'));
    expect(await active(id)).toBe('default');
    expect(await contents(id, 'default@2')).toEqual(['one', 'first']);
  });

  test('a branch without a run interrupts', async () => {
    for (const claimed of [true, false]) {
      const { id, first } = await busy(claimed);
      const made = await branch(id, { after_seq: 1, busy: 'interrupt' });
      if (claimed) await first.commit(0, answer('third'));
      else expect(made).toMatchObject({ ended: 'first', shown: true });
      expect(await active(id)).toBe('default@2');
      expect((await log.threads.get(id)).activeRunId).toBeNull();
    }
  });
});
