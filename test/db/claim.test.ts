import { describe, expect, test } from 'vitest';
import { everythingOf, newThread, refused, rows, useLog } from './helpers.ts';
import { answer, asks, sqlRun } from './sql-run.ts';

const log = useLog();

/** What a claim gives when it is given nothing. */
async function claimsNothing(threadId: string, claim: () => Promise<unknown>, answered: object): Promise<void> {
  const before = await everythingOf(log.db, threadId);
  expect(await claim()).toEqual({ claimed: false, ...answered });
  expect(await everythingOf(log.db, threadId)).toEqual(before);
}

async function enqueued() {
  const threadId = await newThread(log, { systemPrompt: 'p' });
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue({ input: 'go', requestId: 'request' });
  return { threadId, run };
}

describe('enqueue', () => {
  test('the same request is the same run, whatever else is continuing; another body under it is refused', async () => {
    const { threadId, run } = await enqueued();
    const again = () => sqlRun(log.db, threadId, 'another').enqueue({ requestId: 'request' });
    expect(await again()).toMatchObject({ run_id: 'run', status: 'queued', enqueue_no: 1, duplicate: true });
    await run.claim();
    expect(await again()).toMatchObject({ run_id: 'run', status: 'running', duplicate: true });
    await run.commit(0, answer('done'));
    expect(await again()).toMatchObject({ run_id: 'run', status: 'completed', duplicate: true });
    const before = await everythingOf(log.db, threadId);
    await refused(
      sqlRun(log.db, threadId, 'another').enqueue({ requestId: 'request', requestHash: 'bb' }),
      'idempotency_mismatch',
    );
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('a busy thread refuses, or has the run wait; neither writes to the log', async () => {
    const { threadId } = await enqueued();
    const { entries } = await everythingOf(log.db, threadId);
    await refused(sqlRun(log.db, threadId, 'second').enqueue(), 'thread_busy');
    expect(await sqlRun(log.db, threadId, 'third').enqueue({ busy: 'wait' })).toMatchObject({
      status: 'waiting',
      enqueue_no: 0,
    });
    expect((await everythingOf(log.db, threadId)).entries).toEqual(entries);
  });
});

describe('the first claim', () => {
  test('writes the user message and the first events, and returns the context in the same answer', async () => {
    const { threadId, run } = await enqueued();
    const claim = await run.claim({ workerId: 'w9' });
    expect(claim).toMatchObject({
      claimed: true,
      fresh: true,
      lease: 1,
      step: 0,
      iteration: 1,
      context_ref: 'default',
      request_id: 'request',
      state: null,
      usage: null,
      cancel_requested: false,
      calls: null,
      context: [
        { seq: 0, role: 'system', content: 'p' },
        { seq: 1, role: 'user', content: 'go' },
      ],
    });
    expect((await log.threads.entries(threadId))[1]).toMatchObject({
      role: 'user',
      runId: 'run',
      requestId: 'request',
      payload: { content: 'go' },
    });
    expect(await run.events()).toEqual(['request_started', 'llm_started']);
    expect(await run.row()).toMatchObject({ status: 'running', worker_id: 'w9', lease: '1' });
  });
});

describe('no claim', () => {
  test('for a run that does not exist', async () => {
    const { threadId } = await enqueued();
    await claimsNothing(threadId, () => sqlRun(log.db, threadId, 'nobody').claim(), {
      status: null,
      reason: 'unknown',
    });
  });

  test('under another enqueue_no', async () => {
    const { threadId, run } = await enqueued();
    for (const enqueueNo of [0, 2]) {
      await claimsNothing(threadId, () => run.claim({ enqueueNo }), { status: 'queued', reason: 'superseded' });
    }
  });

  test('while another worker’s lease holds', async () => {
    const { threadId, run } = await enqueued();
    await run.claim();
    await claimsNothing(threadId, () => run.claim({ workerId: 'w2' }), { status: 'running', reason: 'leased' });
  });

  test('before the delay of the run is over', async () => {
    const threadId = await newThread(log);
    const run = sqlRun(log.db, threadId, 'run');
    expect(await run.enqueue({ delayMs: 60_000 })).toMatchObject({ status: 'queued', enqueue_no: 1 });
    const before = await everythingOf(log.db, threadId);
    const early = await run.claim();
    expect(early).toMatchObject({ claimed: false, status: 'queued', reason: 'early' });
    expect(early['delay_ms']).toBeGreaterThan(50_000);
    expect(early['delay_ms']).toBeLessThanOrEqual(60_000);
    expect(await everythingOf(log.db, threadId)).toEqual(before);
  });

  test('of a run whose time to live is over: it ends, and the next of its thread has its turn', async () => {
    const threadId = await newThread(log);
    const run = sqlRun(log.db, threadId, 'run');
    await run.enqueue({ ttlMs: 60_000 });
    const next = sqlRun(log.db, threadId, 'next');
    await next.enqueue({ busy: 'wait', options: { priority: 7 }, delayMs: 60_000 });
    await rows(log.db, "update lanefold._run set expires_at = now() where thread_id = $1 and id = 'run'", threadId);
    const refusal = await run.claim();
    expect(refusal).toMatchObject({ claimed: false, status: 'failed', reason: 'expired' });
    expect(refusal['promoted']).toMatchObject({ run_id: 'next', enqueue_no: 1, priority: 7 });
    expect(refusal['promoted'].delay_ms).toBeGreaterThan(50_000);
    expect(await run.row()).toMatchObject({ status: 'failed', error: { type: 'expired' } });
    expect(await run.claim()).toMatchObject({ claimed: false, reason: 'not_queued' });
  });

  test('of a waiting or ended run', async () => {
    const { threadId, run } = await enqueued();
    const waiting = sqlRun(log.db, threadId, 'waiting');
    await waiting.enqueue({ busy: 'wait' });
    await claimsNothing(threadId, () => waiting.claim({ enqueueNo: 0 }), { status: 'waiting', reason: 'not_queued' });
    await waiting.cancel();
    await run.claim();
    await run.commit(0, answer('done'));
    await claimsNothing(threadId, () => run.claim(), { status: 'completed', reason: 'not_queued' });
  });
});

describe('a later claim', () => {
  test('takes over when the lease is past, writes to the trace alone, and continues at the committed step', async () => {
    const { threadId, run } = await enqueued();
    await run.claim({ leaseMs: -1_000 });
    const { entries, events } = await everythingOf(log.db, threadId);
    expect(await run.claim({ workerId: 'w2' })).toMatchObject({
      claimed: true,
      fresh: false,
      lease: 2,
      step: 0,
      state: null,
    });
    await run.commit(0, asks(['a', 'b']), { lease: 2 });
    await run.record(
      1,
      0,
      { status: 'ok', attempts: 1, duration_ms: 4, outcome: { content: 'stored' } },
      { lease: 2, leaseMs: -1_000 },
    );
    expect(await run.claim({ workerId: 'w3' })).toMatchObject({
      fresh: false,
      lease: 3,
      step: 1,
      state: { phase: 'tools', round: 1 },
      calls: [
        { call_index: 0, tool_call_id: 'a', status: 'ok', attempts: 1, outcome: { content: 'stored' }, call_seq: 2 },
        { call_index: 1, tool_call_id: 'b', status: 'pending', attempts: 0, outcome: null },
      ],
      context: [{ role: 'system' }, { role: 'user' }, { role: 'assistant', tool_calls: [{ id: 'a' }, { id: 'b' }] }],
    });
    const after = await everythingOf(log.db, threadId);
    expect(after.entries).toHaveLength(entries.length + 1);
    expect(after.events).toHaveLength(events.length + 3);
    const [lost] = await rows(
      log.db,
      "select data -> 'tool_call_ids' as calls from lanefold.run_event where thread_id = $1 and kind = 'worker_lost' order by seq desc",
      threadId,
    );
    expect(lost).toEqual({ calls: ['b'] });
    expect(await run.events()).toHaveLength((await run.row())['event_count'] as number);
    await run.cancel();
  });

  test('notes which worker is gone and when it was last seen, once for each', async () => {
    const { threadId, run } = await enqueued();
    await run.claim({ workerId: 'w1', leaseMs: -1_000 });
    await run.claim({ workerId: 'w2', leaseMs: 60_000 });
    expect(await run.claim({ workerId: 'w3' })).toMatchObject({ claimed: false, reason: 'leased' });
    const noted = await rows(
      log.db,
      `select e.data ->> 'worker_id' as worker, (e.data ->> 'last_seen_at')::timestamptz = started_at as at_claim
       from lanefold.run_event e join lanefold.run r on r.thread_id = e.thread_id and r.id = e.run_id
       where e.thread_id = $1 and e.kind = 'worker_lost'`,
      threadId,
    );
    expect(noted).toEqual([{ worker: 'w1', at_claim: true }]);
    await run.cancel();
    await run.finish({ status: 'cancelled', reason: 'cancelled' }, 2);
  });

  test('of a run that was given back finds no worker gone', async () => {
    const { threadId, run } = await enqueued();
    await run.claim();
    await rows(log.db, "select * from lanefold.release_run($1, 'run', 1, true)", threadId);
    expect(await run.claim({ workerId: 'w2', enqueueNo: 2 })).toMatchObject({ claimed: true, fresh: false });
    expect(await run.events()).not.toContain('worker_lost');
  });

  test('learns that the run is to be cancelled', async () => {
    const { run } = await enqueued();
    await run.claim({ leaseMs: -1_000 });
    await run.cancel();
    expect(await run.claim()).toMatchObject({ claimed: true, cancel_requested: true });
    await run.finish({ status: 'cancelled', reason: 'cancelled' }, 2);
  });
});
