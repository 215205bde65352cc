import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { isLanefoldError } from '../../src/base/errors.ts';
import { everythingOf, newThread, refused, useLog } from './helpers.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
let run: ReturnType<typeof sqlRun>;
beforeEach(async () => {
  threadId = await newThread(log);
  run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
});

const steer = (id: string, content: unknown = `say ${id}`, more: JsonObject = {}) =>
  input(log.db, threadId, id, content as string, more);
const contents = async () => (await log.contexts.project(threadId)).map((row) => row.content);
const receipts = async () =>
  (await everythingOf(log.db, threadId)).inputs.map((i) => [i['id'], i['status'], i['entry_seq']]);
const continuing = (content: string): JsonObject =>
  answer(content, {
    continue: { state: { phase: 'llm', call_no: 2 }, iteration: 2, events: [{ k: 'llm_started', i: 2 }] },
  });

test('queued input becomes user messages, in order, where a step drains it', async () => {
  expect(await steer('a')).toEqual({ status: 'queued', input_id: 'a', run_id: 'run', request_id: 'run' });
  await run.commit(0, asks(['c']));
  await steer('b', '  trimmed \n', { kind: 'inject', refs: { mine: 1 } });
  expect(await contents()).toEqual(['go', '']);
  const committed = await run.commit(1, { ...results(['c']), drain: true, then_events: [{ k: 'llm_started', i: 2 }] });
  expect(committed).toMatchObject({
    inputs: [
      { seq: 3, role: 'user', content: 'say a' },
      { seq: 4, role: 'user', content: 'trimmed' },
    ],
  });
  expect(await contents()).toEqual(['go', '', 'result of c', 'say a', 'trimmed']);
  expect(await receipts()).toEqual([
    ['a', 'injected', '3'],
    ['b', 'injected', '4'],
  ]);
  expect((await log.threads.entries(threadId)).at(-1)).toMatchObject({
    runId: 'run',
    refs: { kind: 'inject', by: 'test', input_id: 'b', mine: 1 },
  });
  expect((await run.events()).slice(-3)).toEqual(['input_injected', 'input_injected', 'llm_started']);
});

test('input at the final answer continues the run after it', async () => {
  await steer('a');
  expect(await run.commit(0, continuing('not the last word'))).toMatchObject({
    status: 'running',
    inputs: [{ seq: 2, content: 'say a' }],
  });
  expect(await contents()).toEqual(['go', 'not the last word', 'say a']);
  expect(await run.row()).toMatchObject({ status: 'running', iteration: 2, state: { call_no: 2 }, finished_at: null });
  expect(await run.commit(1, continuing('the last word'))).toMatchObject({ finished: true, status: 'completed' });
  expect((await run.row())['result']).toBe('the last word');
});

test('without input the final answer ends the run and seals it', async () => {
  await run.commit(0, continuing('done'));
  expect(await run.row()).toMatchObject({ status: 'completed', result: 'done' });
  await refused(steer('late'), 'no_active_run');
});

test('input is dropped where the run fails or reaches its limit', async () => {
  await steer('a');
  await run.commit(0, { finish: { status: 'completed', reason: 'max_iterations', result: 'limit' } });
  expect(await receipts()).toEqual([['a', 'dropped', null]]);
  const next = sqlRun(log.db, threadId, 'next');
  await next.enqueue();
  await steer('b');
  await next.cancel();
  expect(await receipts()).toContainEqual(['b', 'dropped', null]);
});

describe('rejected, and nothing written', () => {
  test.each([
    ['empty_content', ' \n\t ', {}],
    ['invalid_input', 5, {}],
    ['invalid_input', { text: 'x' }, {}],
    ['other_run_active', 'hello', { expected_request_id: 'another' }],
  ] as const)('%s: %j', async (code, content, more) => {
    const before = await everythingOf(log.db, threadId);
    const json = typeof content === 'string' ? content : (content as never);
    await refused(steer('x', json, more), code);
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('queue_full from the 65th on, until a step drains', async () => {
    for (let i = 0; i < 64; i++) expect(await steer(`i${i}`)).toMatchObject({ status: 'queued' });
    await refused(steer('one-more'), 'queue_full');
    expect((await run.commit(0, { drain: true }))['inputs']).toHaveLength(64);
    expect(await steer('one-more')).toMatchObject({ status: 'queued' });
  });
});

describe('the same id again', () => {
  test('answers with the receipt and queues nothing, also after the run', async () => {
    await steer('a');
    expect(await steer('a')).toMatchObject({ status: 'queued', duplicate: true });
    await run.commit(0, { drain: true });
    expect(await steer('a')).toMatchObject({ status: 'injected', duplicate: true });
    await run.commit(1, answer('done'));
    expect(await steer('a')).toMatchObject({ status: 'injected', duplicate: true });
    expect(await contents()).toEqual(['go', 'say a', 'done']);
  });

  test('with another body is refused', async () => {
    await steer('a');
    const before = await everythingOf(log.db, threadId);
    await refused(steer('a', 'something else'), 'idempotency_mismatch');
    await refused(steer('a', 'say a', { kind: 'inject' }), 'idempotency_mismatch');
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });
});

test('every input acknowledged as queued is there once, before the last answer, however the two race', async () => {
  let step = 0;
  const writers = Array.from({ length: 30 }, (_, i) => steer(`r${i}`));
  const [acknowledged] = await Promise.all([
    Promise.allSettled(writers),
    (async () => {
      while (!(await run.commit(step, continuing(`answer ${step}`)))['finished']) step++;
    })(),
  ]);
  const queued = acknowledged.flatMap((end, i) => (end.status === 'fulfilled' ? [`say r${i}`] : []));
  for (const end of acknowledged)
    if (end.status === 'rejected') expect(isLanefoldError(end.reason, 'no_active_run')).toBe(true);
  const said = await contents();
  expect(said.at(-1)).toBe(`answer ${step}`);
  expect(said.filter((c) => String(c).startsWith('say ')).sort()).toEqual(queued.sort());
});
