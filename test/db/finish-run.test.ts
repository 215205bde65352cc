import { beforeEach, describe, expect, test } from 'vitest';
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

const error = { type: 'model', message: 'broken' };
const fail = { status: 'failed', reason: 'error', error };

test('closes the open group from the ledger: stored outcomes are real, the others say why there is none', async () => {
  await run.commit(0, asks(['ok', 'bad', 'never', 'begun']));
  await run.record(1, 0, { status: 'ok', attempts: 1, duration_ms: 7, outcome: { content: 'real' } });
  await run.record(1, 1, { status: 'error', attempts: 3, duration_ms: 8, outcome: { content: 'real error' } });
  await run.record(1, 3, { status: 'started', attempts: 1 });
  expect(await run.finish(fail, 1)).toMatchObject({ finished: true, status: 'failed' });

  const tools = (await log.contexts.project(threadId)).slice(2);
  expect(tools.map((row) => [row.role, row.tool_call_id, row.name, row.seq])).toEqual([
    ['tool', 'ok', 'tool', 2],
    ['tool', 'bad', 'tool', 3],
    ['tool', 'never', 'tool', 4],
    ['tool', 'begun', 'tool', 5],
  ]);
  expect(tools.slice(0, 2).map((row) => row.content)).toEqual(['real', 'real error']);
  for (const row of tools.slice(2)) {
    expect(JSON.parse(row.content as string)).toEqual({
      ok: false,
      error: { type: 'error', message: 'The run ended (error) before this tool call had a result.', retryable: false },
    });
  }
  expect(tools.map((row) => (row.refs as { kind?: string }).kind)).toEqual([
    undefined,
    undefined,
    'abandoned',
    'unknown',
  ]);
  expect((await run.calls()).map((c) => [c['status'], c['result_seq'], c['attempts']])).toEqual([
    ['ok', '2', 1],
    ['error', '3', 3],
    ['abandoned', '4', 0],
    ['unknown', '5', 1],
  ]);
  expect(await run.row()).toMatchObject({
    status: 'failed',
    termination_reason: 'error',
    error,
    state: null,
    lease_until: null,
  });
  expect((await run.events()).slice(-6)).toEqual([
    'tool_completed',
    'tool_completed',
    'tool_completed',
    'tool_completed',
    'request_failed',
    'checkpoint',
  ]);
});

test('leaves rounds that are closed as they are', async () => {
  await run.commit(0, asks(['a']));
  await run.commit(1, results(['a']));
  const { entries, calls } = await everythingOf(log.db, threadId);
  await run.finish(fail, 1);
  const after = await everythingOf(log.db, threadId);
  expect(after.entries).toEqual(entries);
  expect(after.calls).toEqual(calls);
});

test('without a lease it ends a run whoever holds it; the holder gets lease_lost', async () => {
  await run.commit(0, asks(['a']));
  await run.finish({ status: 'failed', reason: 'poisoned', error });
  await refused(run.commit(1, results(['a'])), 'lease_lost');
  expect(await run.row()).toMatchObject({ status: 'failed', termination_reason: 'poisoned' });
});

test('ending an ended run writes nothing', async () => {
  await run.commit(0, answer('done'));
  const before = await everythingOf(log.db, threadId);
  expect(await run.finish(fail, 1)).toEqual({ finished: false, status: 'completed' });
  expect(await run.finish(fail)).toEqual({ finished: false, status: 'completed' });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('the usage so far stays, or is what the end brings', async () => {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  await run.commit(0, { ...asks(['a']), usage });
  await run.finish(fail, 1);
  expect((await run.row())['usage']).toEqual(usage);
});

test('a run that does not exist cannot be ended', () =>
  refused(sqlRun(log.db, threadId, 'nobody').finish(fail), 'run_not_found'));

test('waiting runs follow first in, first out, each as the one before has ended, however it ends', async () => {
  const order = ['w1', 'w2', 'w3'].map((id) => sqlRun(log.db, threadId, id));
  for (const w of order) expect(await w.enqueue({ busy: 'wait', input: w.id })).toMatchObject({ status: 'waiting' });
  const [w1, w2, w3] = order;
  expect(await run.commit(0, answer('done'))).toMatchObject({
    promoted: { thread_id: threadId, run_id: 'w1', agent: 'agent', enqueue_no: 1, queue_shard: 0, queue_prefix: 'lf' },
  });
  // whoever missed the answer gets it again, as long as nobody has the next run
  expect(await run.commit(0, answer('done'))).toMatchObject({ duplicate: true, promoted: { run_id: 'w1' } });
  await w1!.claim();
  expect(await run.commit(0, answer('done'))).not.toHaveProperty('promoted');
  expect(await w1!.finish(fail, 1)).toMatchObject({ finished: true, promoted: { run_id: 'w2' } });
  expect(await w1!.finish(fail, 1)).toMatchObject({ finished: false, promoted: { run_id: 'w2' } });
  expect(await w2!.cancel()).toMatchObject({ status: 'cancelled', accepted: true, promoted: { run_id: 'w3' } });
  expect(await w2!.cancel()).toMatchObject({ status: 'cancelled', accepted: false, promoted: { run_id: 'w3' } });
  await w3!.claim();
  expect(await w3!.commit(0, answer('done'))).not.toHaveProperty('promoted');
  const users = (await log.threads.entries(threadId)).filter((e) => e.role === 'user');
  expect(users.map((e) => e.payload['content'])).toEqual(['go', 'w1', 'w3']);
});

test('a waiting run can be cancelled out of the line', async () => {
  const [w1, w2] = [sqlRun(log.db, threadId, 'w1'), sqlRun(log.db, threadId, 'w2')];
  await w1.enqueue({ busy: 'wait' });
  await w2.enqueue({ busy: 'wait' });
  expect(await w1.cancel()).toMatchObject({ status: 'cancelled', accepted: true });
  await assertInvariants(log.db);
  expect(await log.threads.get(threadId)).toMatchObject({ activeRunId: 'run' });
  expect(await run.commit(0, answer('done'))).toMatchObject({ promoted: { run_id: 'w2' } });
});

describe('a worker that gave its run up under the same lease cannot end it', () => {
  test('while the run waits for approval, and after the decision', async () => {
    await run.commit(0, asks(['a']));
    await run.suspend(1, { round: 1, approvals: [0] });
    await refused(run.finish(fail, 1), 'lease_lost');
    await run.decide(1, 0, 'approved');
    await refused(run.finish(fail, 1), 'lease_lost');
    expect(await run.row()).toMatchObject({ status: 'queued', lease: '1', finished_at: null });
  });

  test('once it has released the run', async () => {
    await rows(log.db, "select * from lanefold.release_run($1, 'run', 1, true)", threadId);
    await refused(run.finish(fail, 1), 'lease_lost');
    expect(await run.row()).toMatchObject({ status: 'queued', finished_at: null });
  });

  test('but whoever needs no lease can', async () => {
    await run.commit(0, asks(['a']));
    await run.suspend(1, { round: 1, approvals: [0] });
    expect(await run.finish(fail)).toMatchObject({ finished: true, status: 'failed' });
  });

  test('unless it ended meanwhile: then nothing is written, and the worker learns how', async () => {
    await rows(log.db, "select * from lanefold.release_run($1, 'run', 1, true)", threadId);
    await run.cancel();
    expect(await run.finish(fail, 1)).toEqual({ finished: false, status: 'cancelled' });
  });
});
