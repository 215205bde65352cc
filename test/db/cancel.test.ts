import { beforeEach, expect, test } from 'vitest';
import { everythingOf, newThread, refused, useLog } from './helpers.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
let run: ReturnType<typeof sqlRun>;
beforeEach(async () => {
  threadId = await newThread(log);
  run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
});

const cancelled = {
  status: 'cancelled',
  termination_reason: 'cancelled',
  error: { type: 'cancelled', message: 'enough' },
};

test('before the start it ends the run at once and writes nothing to the log', async () => {
  expect(await run.cancel('enough')).toMatchObject({ status: 'cancelled', accepted: true });
  expect(await run.row()).toMatchObject(cancelled);
  expect(await run.events()).toEqual(['request_cancelled', 'checkpoint']);
  expect((await log.threads.get(threadId)).rev).toBe(0);
  expect(await run.claim()).toMatchObject({ claimed: false, reason: 'not_queued' });
});

test('during the run it is recorded, reported by the next commit, and closes the thread to input', async () => {
  await run.claim();
  expect(await run.cancel('enough')).toEqual({ status: 'running', accepted: true });
  expect(await run.row()).toMatchObject({ status: 'running' });
  expect(await run.commit(0, asks(['a']))).toMatchObject({ cancel_requested: true, status: 'running' });
  await refused(input(log.db, threadId, 'late', 'hello'), 'run_ending');
  await run.commit(1, results(['a']));
  await refused(input(log.db, threadId, 'later', 'hello'), 'run_ending');
  await run.finish({ status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } }, 1);
  expect(await run.row()).toMatchObject(cancelled);
});

test('recorded before the terminal commit it wins, and the answer is kept', async () => {
  await run.claim();
  await run.cancel('enough');
  expect(await run.commit(0, answer('too late'))).toMatchObject({ finished: true, status: 'cancelled' });
  expect(await run.row()).toMatchObject({ ...cancelled, result: null });
  expect((await log.contexts.project(threadId)).map((row) => row.content)).toEqual(['go', 'too late']);
  expect((await run.events()).slice(-2)).toEqual(['request_cancelled', 'checkpoint']);
});

test('wins over input that would have continued the run; that input is dropped', async () => {
  await run.claim();
  await input(log.db, threadId, 'i', 'more');
  await run.cancel('enough');
  await run.commit(0, answer('done', { continue: { state: { phase: 'llm' }, iteration: 2, events: [] } }));
  expect(await run.row()).toMatchObject(cancelled);
  expect((await everythingOf(log.db, threadId)).inputs).toMatchObject([{ status: 'dropped', entry_seq: null }]);
});

test('twice is once: the first reason stays', async () => {
  await run.claim();
  await run.cancel('enough');
  const before = await everythingOf(log.db, threadId);
  expect(await run.cancel('another reason')).toEqual({ status: 'running', accepted: true });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
  await run.commit(0, answer('done'));
  expect(await run.row()).toMatchObject(cancelled);
});

test('too late is harmless: the answer is the status', async () => {
  await run.claim();
  await run.commit(0, answer('done'));
  const before = await everythingOf(log.db, threadId);
  expect(await run.cancel()).toEqual({ status: 'completed', accepted: false });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('of a run that does not exist is refused', () =>
  refused(sqlRun(log.db, threadId, 'nobody').cancel(), 'run_not_found'));
