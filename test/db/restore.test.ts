import { expect, test } from 'vitest';
import { newThread, useLog } from './helpers.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();

const error = { type: 'model', message: 'broken' };
const seen = async (threadId: string) =>
  (await log.contexts.project(threadId)).map(({ role, content, tool_calls, tool_call_id, run_id, refs }) => ({
    role,
    content,
    tool_calls,
    tool_call_id,
    run_id,
    refs,
  }));

async function threadWithPast(): Promise<string> {
  const threadId = await newThread(log, { systemPrompt: 'p' });
  const run = sqlRun(log.db, threadId, 'past');
  await run.enqueue({ input: 'before' });
  await run.claim();
  await run.commit(0, asks(['a']));
  await run.commit(1, results(['a']));
  await run.commit(2, answer('done'));
  return threadId;
}

async function failingRun(threadId: string, options?: { on_failure: string }, id = 'failing') {
  const run = sqlRun(log.db, threadId, id);
  await run.enqueue({ input: 'doomed', ...(options ? { options } : {}) });
  await run.claim({ prompt: null });
  await run.commit(0, asks(['b', 'c']));
  return run;
}

test('a failed run stays in the context, closed', async () => {
  const threadId = await threadWithPast();
  const before = await seen(threadId);
  await (await failingRun(threadId)).finish({ status: 'failed', reason: 'error', error }, 1);
  expect((await seen(threadId)).slice(0, before.length)).toEqual(before);
  expect((await seen(threadId)).slice(before.length).map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'tool']);
});

test('with on_failure rewind the lane is as it was before the run; the run stays in the log', async () => {
  const threadId = await threadWithPast();
  const before = await seen(threadId);
  const run = await failingRun(threadId, { on_failure: 'rewind' });
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  expect(await seen(threadId)).toEqual(before);
  const entries = await log.threads.entries(threadId);
  expect(entries.at(-1)).toMatchObject({
    kind: 'ai_context_operation',
    payload: { operation: { type: 'replace', reason: 'restore', meta: { run_id: 'failing' } } },
  });
  expect(entries.filter((e) => e.runId === 'failing').map((e) => e.role)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
  ]);
});

test('the operation of a restored lane has a name that no fork gives', async () => {
  const parent = await newThread(log);
  await log.threads.append(parent, [{ message: { role: 'user', content: 'hi' }, contextRef: 'restore' }]);
  const { id } = await log.threads.fork(parent, { id: 'copy' });
  const run = await failingRun(id, { on_failure: 'rewind' }, 'fork');
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  expect(await seen(id)).toEqual([]);
  expect(await log.threads.fork(parent, { id: 'copy' })).toMatchObject({ id, duplicate: true });
});

test('only a failure restores', async () => {
  const threadId = await threadWithPast();
  const before = await seen(threadId);
  const run = await failingRun(threadId, { on_failure: 'rewind' });
  await run.cancel();
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  expect(await seen(threadId)).toHaveLength(before.length + 4);
});

test('a run that fails before its start has nothing to restore', async () => {
  const threadId = await threadWithPast();
  const run = sqlRun(log.db, threadId, 'unstarted');
  await run.enqueue({ options: { on_failure: 'rewind' } });
  const { rev } = await log.threads.get(threadId);
  await run.finish({ status: 'failed', reason: 'error', error });
  expect((await log.threads.get(threadId)).rev).toBe(rev);
});

test('a deferred operation comes after the restore and wins', async () => {
  const threadId = await threadWithPast();
  const run = await failingRun(threadId, { on_failure: 'rewind' });
  await log.contexts.replace(threadId, { entries: [{ role: 'user', content: 'mine' }] });
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  expect((await seen(threadId)).map((m) => m.content)).toEqual(['p', 'mine']);
});

test('the prompt of the agent is not pinned by a restore', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'failing');
  await run.enqueue({ options: { on_failure: 'rewind' } });
  await run.claim({ prompt: 'old agent' });
  await run.finish({ status: 'failed', reason: 'error', error }, 1);
  const next = sqlRun(log.db, threadId, 'next');
  await next.enqueue({ input: 'q' });
  expect(
    ((await next.claim({ prompt: 'new agent' }))['context'] as { content: string }[]).map((m) => m.content),
  ).toEqual(['new agent', 'q']);
  await next.commit(0, answer('done'));
});
