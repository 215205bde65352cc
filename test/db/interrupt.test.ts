import { beforeEach, expect, test } from 'vitest';
import { everythingOf, newThread, useLog } from './helpers.ts';
import { answer, asks, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
const run = (id: string) => sqlRun(log.db, threadId, id);
const interrupt = (id: string) => run(id).enqueue({ busy: 'interrupt', input: id });
const statusOf = async (id: string) => {
  const { status, error } = await run(id).row();
  return error ? [status, error.message] : [status];
};
beforeEach(async () => void (threadId = await newThread(log)));

test('an interrupt of an idle thread is a run like any other', async () => {
  expect(await interrupt('a')).toMatchObject({ status: 'queued', enqueue_no: 1 });
});

test('takes the place of a run that has not begun, which never begins', async () => {
  await run('first').enqueue();
  expect(await interrupt('a')).toMatchObject({ status: 'queued', enqueue_no: 1, duplicate: false });
  expect(await statusOf('first')).toEqual(['cancelled', 'interrupted']);
  expect(await run('first').claim()).toMatchObject({ claimed: false, reason: 'not_queued' });
  expect(await run('a').claim()).toMatchObject({ claimed: true, fresh: true });
  expect((await log.contexts.project(threadId)).map((row) => row.content)).toEqual(['a']);
});

test('waits for the worker of the running one, and begins before all others that wait', async () => {
  await run('first').enqueue();
  await run('first').claim();
  await run('patient').enqueue({ busy: 'wait' });
  expect(await interrupt('a')).toMatchObject({ status: 'waiting', enqueue_no: 0 });
  expect(await run('first').row()).toMatchObject({ status: 'running', cancel_requested_at: expect.any(Date) });
  expect(await run('first').commit(0, answer('too late'))).toMatchObject({
    status: 'cancelled',
    promoted: { run_id: 'a', enqueue_no: 1 },
  });
  expect(await statusOf('first')).toEqual(['cancelled', 'interrupted']);
  await run('a').claim();
  expect(await run('a').commit(0, answer('done'))).toMatchObject({ promoted: { run_id: 'patient' } });
});

test('supersedes an earlier one that waits, and one whose turn has come but that has not begun', async () => {
  await run('first').enqueue();
  await run('first').claim();
  await interrupt('a');
  expect(await interrupt('b')).toMatchObject({ status: 'waiting' });
  expect(await statusOf('a')).toEqual(['cancelled', 'superseded']);
  await run('first').finish({ status: 'failed', reason: 'error' }, 1);
  expect(await statusOf('b')).toEqual(['queued']);
  expect(await interrupt('c')).toMatchObject({ status: 'queued' });
  expect(await statusOf('b')).toEqual(['cancelled', 'superseded']);
  await run('c').claim();
  await interrupt('d');
  await run('c').commit(0, answer('too late'));
  expect(await statusOf('c')).toEqual(['cancelled', 'interrupted']);
  expect(await statusOf('d')).toEqual(['queued']);
});

test('closes the open round of a run that nobody holds any more before its own message', async () => {
  await run('first').enqueue();
  await run('first').claim();
  await run('first').commit(0, asks(['x']));
  await interrupt('a');
  await run('first').finish({ status: 'cancelled', reason: 'cancelled' });
  await run('a').claim();
  expect((await log.contexts.project(threadId)).map((row) => row.role)).toEqual(['user', 'assistant', 'tool', 'user']);
});

test('sent twice is the same run, whatever became of it', async () => {
  await run('first').enqueue();
  await run('first').claim();
  await interrupt('a');
  await interrupt('b');
  const before = await everythingOf(log.db, threadId);
  expect(await interrupt('a')).toMatchObject({ run_id: 'a', status: 'cancelled', duplicate: true });
  expect(await interrupt('b')).toMatchObject({ run_id: 'b', status: 'waiting', duplicate: true });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});
