import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runs } from '../../src/runs/operations/runs/runs.ts';
import { refused } from '../db/helpers.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

let lanefold: Runtime;
beforeAll(async () => {
  lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, instructions: 'Be kind.' })]);
});
afterAll(() => lanefold?.close());

/** A thread with two questions, answered by a model that says how many messages it was sent. */
async function twice() {
  const model = lanefold.model(async ({ prompt }) => ({ text: `one: ${prompt.length}` }));
  const first = await lanefold.run({ agent: 'a', model: model.id, input: 'first', extraRefs: { ticket: 7 } });
  const second = await lanefold.run({ agent: 'a', model: model.id, input: 'second', threadId: first.threadId });
  return { first, second };
}

test('a rerun asks the question of a run in the context it had, on a fork, with another model and prompt', async () => {
  const { first, second } = await twice();
  const before = await lanefold.threads.entries(first.threadId);
  const other = lanefold.model(async ({ prompt }) => ({
    text: `two: ${JSON.stringify(prompt[0]?.content)} ${prompt.length}`,
  }));
  const again = await lanefold.runs.rerun(second, {
    model: other.id,
    systemPrompt: 'Be brief.',
    metadata: { side: 'b' },
  });
  expect(again.threadId).not.toBe(first.threadId);
  expect(await lanefold.runs.wait(again)).toMatchObject({ result: 'two: "Be brief." 4', retryOf: second.id });
  expect(await lanefold.threads.get(again.threadId)).toMatchObject({
    parentThreadId: first.threadId,
    metadata: { side: 'b' },
    activeRunId: null,
  });
  expect(await lanefold.threads.entries(first.threadId)).toEqual(before);
  const diff = await lanefold.contexts.diff({ threadId: first.threadId }, { threadId: again.threadId });
  expect(diff.filter((row) => row.role !== 'system').map((row) => [row.change, row.content])).toEqual([
    ['removed', 'first'],
    ['removed', 'one: 2'],
    ['removed', 'second'],
    ['removed', 'one: 4'],
    ['added', 'first'],
    ['added', 'one: 2'],
    ['added', 'second'],
    ['added', 'two: "Be brief." 4'],
  ]);
});

test('a rerun keeps what it is not told to change, the input with its refs and an agent’s prompt', async () => {
  const { first } = await twice();
  const again = await lanefold.runs.rerun(first);
  const diff = await lanefold.contexts.diff({ threadId: again.threadId }, { threadId: first.threadId, atSeq: 2 });
  await lanefold.runs.wait(again);
  const messages = await lanefold.contexts.project(again.threadId);
  expect(messages.map((row) => [row.role, row.content])).toEqual([
    ['system', 'Be kind.'],
    ['user', 'first'],
    ['assistant', 'one: 2'],
  ]);
  expect(messages[1]!.refs).toMatchObject({ ticket: 7 });
  expect(diff.length).toBeGreaterThan(0);
});

test('a request id makes one rerun of any number of calls', async () => {
  const { second } = await twice();
  const [a, b] = await Promise.all([
    lanefold.runs.rerun(second, { requestId: 'compare' }),
    lanefold.runs.rerun(second, { requestId: 'compare' }),
  ]);
  expect([a.id, a.threadId]).toEqual([b.id, b.threadId]);
  expect([a.duplicate, b.duplicate].sort()).toEqual([false, true]);
  await refused(
    lanefold.runs.rerun(second, { requestId: 'compare', contextPolicy: 'short_context' }),
    'idempotency_mismatch',
  );
});

test('a rerun onto a fork that something else was asked on is refused, and asks nothing', async () => {
  const { second } = await twice();
  const threadId = `taken-${second.id}`;
  const model = lanefold.model(async () => ({ text: 'A' }));
  const again = (options: Parameters<Runs['rerun']>[1]) =>
    lanefold.runs.rerun(second, { threadId, model: model.id, ...options });
  const first = await again({ requestId: `k-${second.id}` });
  await lanefold.runs.wait(first);
  await refused(again({}), 'thread_exists');
  await refused(again({ requestId: 'another', contextPolicy: 'short_context' }), 'thread_exists');
  await refused(again({ systemPrompt: 'X' }), 'idempotency_mismatch');
  await lanefold.run({ agent: 'a', model: model.id, input: 'third', threadId });
  expect(await again({ requestId: first.requestId })).toMatchObject({ id: first.id, duplicate: true });
  expect((await lanefold.runs.list({ threadId })).data).toHaveLength(2);
});

test('a fork that was left behind without its question is used by the same request alone', async () => {
  const { first } = await twice();
  const threadId = `left-${first.id}`;
  await lanefold.threads.fork(first.threadId, { id: threadId, atSeq: 0, contextRef: 'default', systemPrompt: 'One.' });
  await refused(lanefold.runs.rerun(first, { threadId, systemPrompt: 'Two.' }), 'idempotency_mismatch');
  const message = { message: { role: 'user' as const, content: 'mine' } };
  const used = `used-${first.id}`;
  await lanefold.threads.fork(first.threadId, { id: used, atSeq: 0, contextRef: 'default' });
  await lanefold.threads.append(used, [message]);
  await refused(lanefold.runs.rerun(first, { threadId: used }), 'thread_exists');
  const again = await lanefold.runs.rerun(first, { threadId, systemPrompt: 'One.' });
  expect(await lanefold.runs.wait(again)).toMatchObject({ result: 'one: 2' });
});

test('a policy takes the place of that of the run', async () => {
  const { second } = await twice();
  const again = await lanefold.runs.rerun(second, { contextPolicy: { maxMessages: 1, keepLastTurns: 1 } });
  expect(await lanefold.runs.wait(again)).toMatchObject({ result: 'one: 2' });
});

test('what cannot be asked again is refused, and no thread is created', async () => {
  const { second } = await twice();
  const threads = async () => (await lanefold.threads.list({ limit: 1_000 })).data.length;
  const before = await threads();
  await refused(lanefold.runs.rerun({ ...second, id: 'none' }), 'run_not_found');
  await refused(lanefold.runs.rerun(second, { model: 'nobody:1' }), 'unknown_model');
  await refused(lanefold.runs.rerun(second, { contextPolicy: { maxMessages: -1 } }), 'invalid_policy');
  await refused(lanefold.runs.rerun(second, { systemPrompt: '\0' }), 'invalid_text');
  await refused(lanefold.runs.rerun(second, { model: 'fake:0', from: 'http' }), 'override_not_allowed');
  expect(await threads()).toBe(before);
});
