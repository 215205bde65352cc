import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { everythingOf, newThread, refused, rows, useLog } from './helpers.ts';
import { assertInvariants } from './invariants.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
let run: ReturnType<typeof sqlRun>;
beforeEach(async () => {
  threadId = await newThread(log);
  run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
});

/** Carries out a call that must write nothing. */
async function writesNothing<T>(call: () => Promise<T>): Promise<T> {
  const before = await everythingOf(log.db, threadId);
  const result = await call();
  expect(await everythingOf(log.db, threadId)).toEqual(before);
  return result;
}

test('a run that is to be cancelled is not handed over: the step writes nothing', async () => {
  await run.commit(0, asks(['a']));
  await run.cancel();
  const handoff = { agent: 'other', model: 'scripted:x', prompt: null, from: 'agent', options: {} };
  expect(await writesNothing(() => run.commit(1, { ...results(['a']), handoff }))).toEqual({
    step: 1,
    status: 'running',
    cancel_requested: true,
  });
  expect(await run.commit(1, results(['a']))).toMatchObject({ step: 2, cancel_requested: true });
});

test('everything of a step lands together: entries, events, ledger, state', async () => {
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  expect(await run.commit(0, { ...asks(['a', 'b']), usage })).toMatchObject({
    step: 1,
    status: 'running',
  });
  expect(await run.row()).toMatchObject({ step: 1, state: { phase: 'tools' }, usage });
  expect(await run.calls()).toMatchObject([
    {
      round: 1,
      call_index: 0,
      tool_call_id: 'a',
      name: 'tool',
      arguments: { id: 'a' },
      status: 'pending',
      call_seq: '1',
      result: null,
      idempotency_key: 'run:1:0',
    },
    { call_index: 1, tool_call_id: 'b', idempotency_key: 'run:1:1' },
  ]);
  expect(
    await rows(log.db, 'select open_calls, last_seq::int from lanefold.lane where thread_id = $1', threadId),
  ).toEqual([{ open_calls: 2, last_seq: 1 }]);
  await assertInvariants(log.db);

  expect(await run.commit(1, results(['a', 'b']))).toMatchObject({ step: 2 });
  expect(await run.calls()).toMatchObject([
    { status: 'ok', result: 'result of a', result_seq: '2', attempts: 1, duration_ms: 3 },
    { status: 'ok', result: 'result of b', result_seq: '3' },
  ]);
  await assertInvariants(log.db);

  expect(await run.commit(2, answer('done'))).toMatchObject({ step: 3, finished: true, status: 'completed' });
  expect(await run.row()).toMatchObject({
    status: 'completed',
    termination_reason: 'final_answer',
    result: 'done',
    result_seq: '4',
    state: null,
    error: null,
    usage,
    lease_until: null,
  });
  expect(await run.events()).toEqual([
    'request_started',
    'llm_started',
    'llm_completed',
    'llm_completed',
    'request_completed',
    'checkpoint',
  ]);
  expect(await log.threads.get(threadId)).toMatchObject({ activeRunId: null, rev: 5 });
});

test('the tokens of other models survive their worker, and the end of the run without its machine', async () => {
  const usage = { input_tokens: 5, output_tokens: 0, total_tokens: 5 };
  const others = { 'scripted:y': { ...usage, calls: 1 } };
  await run.commit(0, { ...asks(['a']), usage, other_usage: others }, { leaseMs: -1_000 });
  expect(await run.claim()).toMatchObject({ usage, other_usage: others });
  await run.commit(1, results(['a']), { lease: 2, leaseMs: -1_000 });
  expect(await run.row()).toMatchObject({ other_usage: others });
  const more = { ...others, 'scripted:z': { ...usage, calls: 2 } };
  await run.finish({ status: 'failed', reason: 'error', usage, other_usage: more }, 2);
  expect(await run.row()).toMatchObject({ status: 'failed', other_usage: more });
});

test('an event names its entry by seq', async () => {
  await run.commit(0, answer('done'));
  const found = await rows(
    log.db,
    "select kind, data ->> 'seq' as seq from lanefold.run_event where thread_id = $1 and data ? 'seq' order by event_seq",
    threadId,
  );
  expect(found).toEqual([
    { kind: 'request_started', seq: '0' },
    { kind: 'llm_completed', seq: '1' },
  ]);
});

test('a result that is no message is kept with the run', async () => {
  await run.commit(0, { finish: { status: 'completed', reason: 'max_iterations', result: 'limit' } });
  expect(await run.row()).toMatchObject({
    status: 'completed',
    termination_reason: 'max_iterations',
    result: 'limit',
    result_seq: null,
  });
});

describe('a lost acknowledgement', () => {
  test('is given again, and nothing is written', async () => {
    const first = await run.commit(0, asks(['a']));
    expect(await writesNothing(() => run.commit(0, asks(['a'])))).toEqual({
      ...first,
      duplicate: true,
      finished: false,
      cancel_requested: false,
    });
  });

  test('with the place of its entries, also those of a lane that it opens', async () => {
    const question: JsonObject = {
      lanes: ['run.1'],
      state: { phase: 'llm' },
      entries: [
        { kind: 'ai_config_change', context_ref: 'run.1', payload: { field: 'system_prompt', value: 'Think.' } },
        { role: 'user', context_ref: 'run.1', payload: { content: 'What now?' }, refs: { kind: 'question' } },
        { role: 'assistant', context_ref: 'run.1', payload: { content: 'This.' } },
      ],
    };
    const first = await run.commit(0, question);
    expect(first).toMatchObject({ seq: 1 });
    expect(await writesNothing(() => run.commit(0, question))).toMatchObject({ ...first, duplicate: true });
    const mixed: JsonObject = {
      entries: [
        { role: 'assistant', context_ref: 'run.1', payload: { content: 'That.' } },
        { role: 'assistant', payload: { content: 'So far.' } },
      ],
    };
    const second = await run.commit(1, mixed);
    expect(second).toMatchObject({ seq: 4 });
    expect(await writesNothing(() => run.commit(1, mixed))).toMatchObject({ ...second, duplicate: true });
  });

  test('of the terminal step too', async () => {
    const first = await run.commit(0, answer('done'));
    expect(await writesNothing(() => run.commit(0, answer('done')))).toMatchObject({
      ...first,
      duplicate: true,
      finished: true,
    });
  });

  test('says whether the run has been cancelled or ended meanwhile', async () => {
    await run.commit(0, asks(['a']));
    await run.cancel();
    expect(await writesNothing(() => run.commit(0, asks(['a'])))).toMatchObject({
      duplicate: true,
      finished: false,
      cancel_requested: true,
    });
    await run.finish({ status: 'failed', reason: 'error' }, 1);
    expect(await writesNothing(() => run.commit(0, asks(['a'])))).toMatchObject({ duplicate: true, finished: true });
  });
});

describe('refused', () => {
  const error = { type: 'x', message: 'y' };
  const attempts: [string, (lease: number) => Promise<unknown>][] = [
    ['a step', (lease) => run.commit(0, answer('zombie'), { lease })],
    ['a terminal step', (lease) => run.commit(0, asks(['z']), { lease })],
    ['an outcome', (lease) => run.record(1, 0, { status: 'ok', attempts: 1, outcome: { content: 'z' } }, { lease })],
    ['an end', (lease) => run.finish({ status: 'failed', reason: 'error', error }, lease)],
  ];

  test.each(attempts)('%s under a lease that another worker has taken over', async (_, attempt) => {
    await run.commit(0, asks(['a']), { leaseMs: -1_000 });
    await run.claim();
    await writesNothing(() => refused(attempt(1), 'lease_lost'));
    await writesNothing(() => refused(attempt(3), 'lease_lost'));
    await run.finish({ status: 'failed', reason: 'error', error }, 2);
  });

  test('a step ahead of the run', async () => {
    await writesNothing(() => refused(run.commit(1, answer('early')), 'step_ahead'));
  });

  test('the next step after the end', async () => {
    await run.commit(0, answer('done'));
    await writesNothing(() => refused(run.commit(1, answer('more')), 'lease_lost'));
    await writesNothing(() => refused(run.record(1, 0, { status: 'ok', attempts: 1 }), 'lease_lost'));
  });

  test('a step of a run or thread that does not exist', async () => {
    await refused(sqlRun(log.db, threadId, 'nobody').commit(0, answer('x')), 'lease_lost');
    await expect(sqlRun(log.db, 'never-made', 'run').commit(0, answer('x'))).rejects.toMatchObject({
      name: 'LanefoldError',
    });
  });

  test('a step that breaks half-way leaves nothing of itself', async () => {
    const broken: JsonObject = {
      ...asks(['a', 'b']),
      calls: [
        { index: 0, id: 'a', name: 'tool' },
        { index: 0, id: 'b', name: 'tool' },
      ],
    };
    await writesNothing(() => expect(run.commit(0, broken)).rejects.toThrow());
    expect(await run.commit(0, asks(['a', 'b']))).toMatchObject({ step: 1 });
  });
});

describe('the ledger', () => {
  const outcome = (content: string, status = 'ok') => ({ status, attempts: 1, duration_ms: 5, outcome: { content } });

  test('keeps the first outcome, whatever comes later', async () => {
    await run.commit(0, asks(['a', 'b']));
    await run.record(1, 0, { status: 'started', attempts: 1 });
    expect(await run.calls()).toMatchObject([
      { status: 'started', attempts: 1 },
      { status: 'pending', attempts: 0 },
    ]);
    expect(await run.record(1, 0, outcome('first'))).toEqual({ cancel_requested: false });
    await run.record(1, 0, outcome('second', 'error'));
    await run.record(1, 0, { status: 'started', attempts: 2 });
    expect(await run.calls()).toMatchObject([
      { status: 'ok', result: 'first', attempts: 1, duration_ms: 5 },
      { status: 'pending' },
    ]);
  });

  test('is closed to a round whose messages are in the log', async () => {
    await run.commit(0, asks(['a']));
    await run.commit(1, results(['a']));
    const before = await run.calls();
    await run.record(1, 0, outcome('late', 'error'));
    expect(await run.calls()).toEqual(before);
  });

  test('of a call that the run does not have is refused: the worker is ahead of the database', async () => {
    await run.commit(0, asks(['a']));
    const before = await everythingOf(log.db, threadId);
    await refused(run.record(2, 0, { status: 'started', attempts: 1 }), 'step_ahead');
    const large = { status: 'ok', attempts: 1, outcome: { content: 'x' }, contents: [{ id: 'c_0', text: 'x' }] };
    await refused(run.record(2, 0, large), 'step_ahead');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('tells of a cancel', async () => {
    await run.commit(0, asks(['a']));
    await run.cancel();
    expect(await run.record(1, 0, outcome('x'))).toEqual({ cancel_requested: true });
  });

  test('the same tool_call_id may come twice in a round and again in the next', async () => {
    await run.commit(0, asks(['a', 'a']));
    await run.commit(1, results(['a', 'a']));
    await run.commit(2, asks(['a'], 2));
    expect((await run.calls()).map((c) => c['idempotency_key'])).toEqual(['run:1:0', 'run:1:1', 'run:2:0']);
  });
});
