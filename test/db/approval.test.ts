import { beforeEach, expect, test } from 'vitest';
import { everythingOf, newThread, refused, useLog } from './helpers.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();
let threadId: string;
let run: ReturnType<typeof sqlRun>;
beforeEach(async () => {
  threadId = await newThread(log);
  run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a', 'b']));
});

const wait = { round: 1, approvals: [0, 1] };

test('a suspended run has no lease, takes no job, and no renewal or sweep touches it', async () => {
  expect(await run.suspend(1, wait)).toEqual({ step: 2, status: 'suspended' });
  expect(await run.row()).toMatchObject({ status: 'suspended', lease_until: null, worker_id: null, step: 2 });
  expect(await run.claim()).toMatchObject({ claimed: false, status: 'suspended', reason: 'not_queued' });
  const before = await everythingOf(log.db, threadId);
  expect(await run.queueAgain()).toEqual([]);
  expect(await run.renew()).toMatchObject({ lost: true, renewed: false });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('suspends once: a lost acknowledgement writes nothing, a step too far is refused', async () => {
  await refused(run.suspend(2, wait), 'step_ahead');
  await run.suspend(1, wait);
  const before = await everythingOf(log.db, threadId);
  expect(await run.suspend(1, wait)).toMatchObject({ step: 2, duplicate: true });
  await refused(run.suspend(2, wait), 'lease_lost');
  await refused(run.commit(2, results(['a', 'b'])), 'lease_lost');
  await refused(run.record(1, 0, { status: 'ok', attempts: 1, outcome: { content: 'x' } }), 'lease_lost');
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('does not suspend a run with a cancel requested', async () => {
  await run.cancel();
  expect(await run.suspend(1, wait)).toEqual({ step: 1, status: 'running', cancel_requested: true });
  expect(await run.row()).toMatchObject({ status: 'running', step: 1 });
});

test('the last decision queues the run under a new number; an old worker writes nothing more', async () => {
  await run.suspend(1, wait);
  expect(await run.decide(1, 1, 'denied')).toMatchObject({ status: 'suspended' });
  const last = await run.decide(1, 0, 'approved', { by: 'ada', queue_prefix: 'lf' });
  expect(last).toMatchObject({ status: 'queued', job: { run_id: 'run', enqueue_no: 2, queue_prefix: 'lf' } });
  await refused(run.commit(2, results(['a', 'b'])), 'lease_lost');
  expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ claimed: false, reason: 'superseded' });
  const claim = await run.claim({ enqueueNo: 2 });
  expect(claim).toMatchObject({ claimed: true, fresh: false, lease: 2, step: 2 });
  expect(claim['calls']).toMatchObject([
    { call_index: 0, status: 'pending', outcome: null, approval: { decision: 'approved', by: 'ada' } },
    { call_index: 1, status: 'denied', approval: { decision: 'denied' } },
  ]);
  await run.commit(2, results(['a', 'b']), { lease: 2 });
  await run.commit(3, answer('done'), { lease: 2 });
  expect(await run.row()).toMatchObject({ status: 'completed', suspended_until: null });
});

test('expires once, and not before its time', async () => {
  await run.suspend(1, wait);
  expect(await run.expire()).toBeNull();
  await log.db.query('', `update lanefold._run set suspended_until = now() where thread_id = $1`, [threadId]);
  await log.db.query('', `update lanefold._wait set until = now() where thread_id = $1`, [threadId]);
  await run.decide(1, 0, 'approved');
  expect(await run.expire()).toMatchObject({ run_id: 'run', enqueue_no: 2 });
  expect(await run.expire()).toBeNull();
  expect((await run.calls()).map((call) => call['approval'])).toMatchObject([
    { decision: 'approved' },
    { decision: 'denied', by: 'lanefold' },
  ]);
});

test('an invalid decision is refused, and nothing changes', async () => {
  await run.suspend(1, wait);
  const before = await everythingOf(log.db, threadId);
  await refused(run.decide(1, 0, 'perhaps'), 'invalid_input');
  await refused(run.decide(2, 0, 'approved'), 'tool_call_not_found');
  await refused(sqlRun(log.db, threadId, 'nobody').decide(1, 0, 'approved'), 'run_not_found');
  expect(await everythingOf(log.db, threadId)).toEqual(before);
});

test('a run of another queue is left to its own workers for a while when its time is over', async () => {
  await run.suspend(1, { ...wait, timeout_ms: -1_000 });
  expect(await run.expire('another')).toBeNull();
  expect(await run.row()).toMatchObject({ status: 'suspended' });
  expect(await run.expire('another', 0)).toMatchObject({ queue_prefix: 'another', enqueue_no: 2 });
});
