import { describe, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';
import { reportWorker, type WorkerReport } from '../../src/database/store/worker/find-lacking.ts';
import { newThread, refused, rows, useLog, value, workerReport } from './helpers.ts';
import { answer, asks, sqlRun, type Receipt } from './sql-run.ts';

const log = useLog();

async function queued() {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  return { threadId, run };
}

async function claimed(leaseMs = 60_000) {
  const { threadId, run } = await queued();
  await run.claim({ leaseMs });
  return { threadId, run };
}

const isPast = (threadId: string) =>
  value<boolean>(log.db, 'select lease_until < lanefold._now() from lanefold.run where thread_id = $1', threadId);

const enqueuedAgo = (threadId: string) =>
  value<number>(
    log.db,
    'select extract(epoch from lanefold._now() - enqueued_at)::float8 from lanefold._run where thread_id = $1',
    threadId,
  );

/** Runs `body` while another transaction holds a row of a table. */
async function whileHeld(row: string, threadId: string, body: () => Promise<void>): Promise<void> {
  const client = await log.pool.connect();
  try {
    await client.query('begin');
    await client.query(`select from lanefold.${row} = $1 for update`, [threadId]);
    await body();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe('renew_lease', () => {
  test('renews the lease of its holder', async () => {
    const [held, other] = [await claimed(-1_000), await claimed(-1_000)];
    expect(await held.run.renew()).toEqual({ lost: false, cancel_requested: false, renewed: true });
    expect([await isPast(held.threadId), await isPast(other.threadId)]).toEqual([false, true]);
  });

  test('serves a batch: one row for each run', async () => {
    const held = [await claimed(-1_000), await claimed(-1_000)];
    const keys = [...held.map(({ threadId }) => threadId), 'never-made'].map((thread_id) => ({ thread_id, lease: 1 }));
    const renewed = await rows<Receipt>(
      log.db,
      `select h.thread_id, r.* from jsonb_to_recordset($1) as h (thread_id text, lease bigint)
       cross join lateral lanefold.renew_lease(h.thread_id, 'run', h.lease, 60000) r`,
      JSON.stringify(keys),
    );
    expect(renewed.map((row) => [row['thread_id'], row['renewed'], row['lost']])).toEqual([
      [held[0]!.threadId, true, false],
      [held[1]!.threadId, true, false],
      ['never-made', false, true],
    ]);
  });

  test.skipIf(citusLacks.batches)('says of many leases what it says of each', async () => {
    const [kept, cancelled, taken, ended, locked] = await Promise.all(Array.from({ length: 5 }, () => claimed(-1_000)));
    await cancelled!.run.cancel();
    await taken!.run.claim({ leaseMs: -1_000 });
    await ended!.run.commit(0, answer('done'));
    const all = [kept, cancelled, taken, ended, locked].map((one) => one!.threadId);
    const leases = [...all, 'never-made'].map((thread_id) => ({ thread_id, run_id: 'run', lease: 1 }));
    await whileHeld('_run where thread_id', locked!.threadId, async () => {
      const notices = await rows<Receipt>(
        log.db,
        'select * from lanefold.renew_leases($1, 60000)',
        JSON.stringify(leases),
      );
      expect(notices).toEqual([
        { thread_id: all[1], run_id: 'run', lost: false, cancel_requested: true, renewed: true },
        { thread_id: all[2], run_id: 'run', lost: true, cancel_requested: false, renewed: false },
        { thread_id: all[3], run_id: 'run', lost: true, cancel_requested: expect.any(Boolean), renewed: false },
        { thread_id: all[4], run_id: 'run', lost: false, cancel_requested: false, renewed: false },
        { thread_id: 'never-made', run_id: 'run', lost: true, cancel_requested: false, renewed: false },
      ]);
    });
    expect(await Promise.all(all.map(isPast))).toEqual([false, false, true, null, true]);
  });

  test('reports a cancel, and renews all the same', async () => {
    const { threadId, run } = await claimed(-1_000);
    await run.cancel();
    expect(await run.renew()).toEqual({ lost: false, cancel_requested: true, renewed: true });
    expect(await isPast(threadId)).toBe(false);
  });

  test('renews nothing that another worker took, that ended, or that is gone', async () => {
    const [taken, ended] = [await claimed(-1_000), await claimed()];
    await taken.run.claim({ leaseMs: -1_000 });
    await ended.run.commit(0, answer('done'));
    for (const run of [taken.run, ended.run, sqlRun(log.db, 'never-made', 'run')]) {
      expect(await run.renew()).toMatchObject({ lost: true, renewed: false });
    }
    expect(await isPast(taken.threadId)).toBe(true);
  });

  test('does not wait for a writer that holds the run: not renewed is not lost', async () => {
    const { threadId, run } = await claimed(-1_000);
    await whileHeld('_run where thread_id', threadId, async () => {
      expect(await run.renew()).toEqual({ lost: false, cancel_requested: false, renewed: false });
    });
  });
});

describe('queue_run_again', () => {
  test('raises the number of a run whose lease is past, so that only the new job may claim it', async () => {
    const { threadId, run } = await claimed(-1_000);
    expect(await run.queueAgain()).toEqual([
      { thread_id: threadId, run_id: 'run', agent: 'agent', enqueue_no: 2, queue_shard: 0 },
    ]);
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ claimed: false, reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true, lease: 2 });
    await refused(run.commit(0, answer('zombie')), 'lease_lost');
  });

  test('leaves a healthy worker alone, and waiting, ended and missing runs', async () => {
    const { threadId, run } = await claimed();
    const waiting = sqlRun(log.db, threadId, 'waiting');
    await waiting.enqueue({ busy: 'wait' });
    expect(await run.queueAgain()).toEqual([]);
    expect(await waiting.queueAgain({ enqueueNo: 0 })).toEqual([]);
    expect(await sqlRun(log.db, threadId, 'nobody').queueAgain()).toEqual([]);
    await run.commit(0, answer('done'));
    expect(await run.queueAgain()).toEqual([]);
  });

  test('takes a run of another queue only for an adoptable agent, and only once its own workers had their time', async () => {
    const { run } = await claimed(-1_000);
    expect(await run.queueAgain({ prefix: 'another', adoptMs: 0 })).toEqual([]);
    expect(await run.queueAgain({ prefix: 'another', adoptable: ['agent'] })).toEqual([]);
    expect(await run.queueAgain({ prefix: 'another', adoptMs: 0, adoptable: ['agent'] })).toMatchObject([
      { enqueue_no: 2 },
    ]);
  });

  test('takes a run of another queue only with a strategy that its workers know', async () => {
    const { run } = await claimed(-1_000);
    const adopt = { prefix: 'another', adoptMs: 0, adoptable: ['agent'] };
    expect(await run.queueAgain({ ...adopt, strategies: ['tot'] })).toEqual([]);
    expect(await run.queueAgain({ ...adopt, strategies: ['tot', 'react'] })).toMatchObject([{ enqueue_no: 2 }]);
  });

  test('leaves a running run alone that was given to the queue within the grace', async () => {
    const { run } = await claimed(-1_000);
    expect(await run.queueAgain({ graceMs: 600_000 })).toEqual([]);
    expect(await run.queueAgain()).toHaveLength(1);
    expect(await run.queueAgain({ enqueueNo: 2, graceMs: 600_000 })).toEqual([]);
  });

  test('takes a queued run at once, under the number of the lost job and no other', async () => {
    const { run } = await queued();
    expect(await run.queueAgain({ enqueueNo: 7 })).toEqual([]);
    expect(await run.queueAgain({ graceMs: 600_000 })).toMatchObject([{ enqueue_no: 2 }]);
    expect(await run.queueAgain()).toEqual([]);
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true });
  });

  test('gives the run to one of several sweeps at the same time', async () => {
    const { threadId, run } = await claimed(-1_000);
    await rows(
      log.db,
      "update lanefold._run set enqueued_at = now() - interval '1 hour' where thread_id = $1",
      threadId,
    );
    const found = await Promise.all([1, 2, 3, 4].map(() => run.queueAgain({ graceMs: 600_000 })));
    expect(found.flat()).toMatchObject([{ enqueue_no: 2 }]);
  });

  test('does not wait for a writer that holds the run', async () => {
    const { threadId, run } = await claimed(-1_000);
    await whileHeld('_run where thread_id', threadId, async () => expect(await run.queueAgain()).toEqual([]));
    expect(await run.queueAgain()).toMatchObject([{ enqueue_no: 2 }]);
  });
});

describe('a job', () => {
  test('that was seen counts as just given to the queue, under its own number', async () => {
    const { threadId, run } = await queued();
    await run.missing();
    await run.seen(7);
    expect(await enqueuedAgo(threadId)).toBeGreaterThan(9);
    await whileHeld('_run where thread_id', threadId, async () => void (await run.seen()));
    expect(await enqueuedAgo(threadId)).toBeGreaterThan(9);
    await run.seen();
    expect(await enqueuedAgo(threadId)).toBeLessThan(9);
  });

  test('that is missing counts as given long ago, while the run is queued under its number', async () => {
    const { threadId, run } = await queued();
    await run.missing(7);
    expect(await enqueuedAgo(threadId)).toBeLessThan(9);
    await run.missing();
    expect(await enqueuedAgo(threadId)).toBeGreaterThan(9);
    await run.seen();
    await run.claim();
    await run.missing();
    expect(await enqueuedAgo(threadId)).toBeLessThan(9);
  });
});

describe('move_run', () => {
  const unknownSince = async (run: Awaited<ReturnType<typeof queued>>['run']) =>
    (await run.row())['agent_unknown_since'];
  const age = (threadId: string) =>
    rows(
      log.db,
      "update lanefold._run set agent_unknown_since = now() - interval '1 hour' where thread_id = $1 and agent_unknown_since is not null",
      threadId,
    );
  const fail = (threadId: string, limitMs: number) =>
    value<Receipt | null>(log.db, "select lanefold.fail_unknown_agent($1, 'run', $2)", threadId, limitMs);

  test('leaves a run to workers that know its agent, without limit or until the patience is over', async () => {
    const { threadId, run } = await queued();
    expect(await unknownSince(run)).toBeNull();
    expect(await run.move()).toBe(true);
    await age(threadId);
    expect(await run.move({ patienceMs: null })).toBe(true);
    expect(await run.move({ patienceMs: 7_200_000 })).toBe(true);
    expect(await run.move()).toBe(false);
  });

  test('counts from the last worker that knew the agent', async () => {
    const { threadId, run } = await queued();
    await run.move();
    await age(threadId);
    const before = await unknownSince(run);
    await run.queueAgain({ agentQueue: true });
    expect(await unknownSince(run)).toEqual(before);
    await run.seen(2);
    expect(await fail(threadId, 60_000)).toBeNull();
    await run.claim({ enqueueNo: 2, leaseMs: -1_000 });
    expect(await unknownSince(run)).toBeNull();
    expect(await run.move({ enqueueNo: 2 })).toBe(true);
    await run.queueAgain({ enqueueNo: 2 });
    expect(await unknownSince(run)).toBeNull();
  });

  test('moves no run that has another job, or that a worker holds', async () => {
    const { run } = await queued();
    expect(await run.move({ enqueueNo: 7 })).toBe(false);
    await run.claim();
    expect(await run.move()).toBe(false);
    expect(await unknownSince(run)).toBeNull();
  });

  test('a claim moves a run whose strategy the worker does not know', async () => {
    const threadId = await newThread(log);
    const run = sqlRun(log.db, threadId, 'run');
    await run.enqueue({
      strategy: 'adaptive',
      options: { selection: { strategy: 'tot', score: 0.5, task_type: 'x' } },
    });
    for (const claim of [{}, { strategies: ['react', 'adaptive'] }]) {
      expect(await run.claim(claim)).toMatchObject({
        claimed: false,
        reason: 'unknown_strategy',
        agent_queue: 'agent+tot',
      });
    }
    expect(await run.row()).toMatchObject({ status: 'queued', unknown_strategy: 'tot', started_at: null, lease: '0' });
    await age(threadId);
    expect(await fail(threadId, 7_200_000)).toBeNull();
    expect(await run.claim({ strategies: ['tot'] })).toMatchObject({ claimed: true, fresh: true });
    expect(await run.row()).toMatchObject({ unknown_strategy: null, agent_unknown_since: null });
  });

  test('fail_unknown_agent ends a run that no worker could execute for as long', async () => {
    const report = (id: string, given: Partial<WorkerReport> = {}) => reportWorker(log.db, workerReport(id, given));
    const { threadId, run } = await queued();
    expect(await fail(threadId, 0)).toBeNull();
    await run.move();
    await age(threadId);
    // no worker is alive that could say so
    expect(await fail(threadId, 60_000)).toBeNull();
    await report('ignorant');
    await report('knowing', { agents: ['agent'] });
    // that one may have a backlog
    expect(await fail(threadId, 60_000)).toBeNull();
    await report('knowing', { stopped: true });
    expect(await fail(threadId, 60_000)).toBeNull();
    await rows(log.db, "update lanefold._worker set stopped_at = now() - interval '1 hour' where id = 'knowing'");
    expect(await fail(threadId, 7_200_000)).toBeNull();
    expect(await fail(threadId, 60_000)).toMatchObject({ finished: true, status: 'failed' });
    expect(await run.row()).toMatchObject({ error: { type: 'unknown_agent' }, agent_unknown_since: null });
    expect(await fail(threadId, 60_000)).toBeNull();
  });
});

test('run_ended is true once a run has ended, and for one that does not exist', async () => {
  const { run } = await queued();
  expect(await run.ended()).toBe(false);
  await run.claim();
  expect(await run.ended()).toBe(false);
  await run.commit(0, answer('done'));
  expect(await run.ended()).toBe(true);
  expect(await sqlRun(log.db, 'never-made', 'run').ended()).toBe(true);
});

describe('a sweep that finds the thread held', () => {
  const finishCancelled = (threadId: string) =>
    value<Receipt | null>(log.db, "select lanefold.finish_cancelled_run($1, 'run')", threadId);

  test('leaves a cancelled run to the next one, which ends it', async () => {
    const { threadId, run } = await claimed();
    await run.cancel();
    await whileHeld('thread where id', threadId, async () => expect(await finishCancelled(threadId)).toBeNull());
    expect(await finishCancelled(threadId)).toMatchObject({ finished: true, status: 'cancelled' });
    expect(await finishCancelled(threadId)).toMatchObject({ finished: false, status: 'cancelled' });
  });

  test('leaves expired approvals to the next one, which denies them', async () => {
    const { threadId, run } = await claimed();
    await run.commit(0, asks(['a']));
    await run.suspend(1, { round: 1, approvals: [0], timeout_ms: -1_000 });
    await whileHeld('thread where id', threadId, async () => expect(await run.expire()).toBeNull());
    expect(await run.expire()).toMatchObject({ run_id: 'run', enqueue_no: 2 });
  });

  test('leaves traces to the next one, which drops those of ended runs', async () => {
    const { threadId, run } = await claimed();
    const drop = () => value<number>(log.db, "select lanefold.drop_trace($1, '{run,nobody}')", threadId);
    expect(await drop()).toBe(0);
    await run.commit(0, answer('done'));
    await whileHeld('thread where id', threadId, async () => expect(await drop()).toBe(0));
    const client = await log.pool.connect();
    // rolled back: the invariants that hold at the end are those of whole traces
    await client.query('begin');
    await client.query('set local role lanefold_owner');
    const dropped = await client.query("select lanefold.drop_trace($1, '{run,nobody}') as n", [threadId]);
    const again = await client.query("select lanefold.drop_trace($1, '{run}') as n", [threadId]);
    const left = await client.query('select from lanefold._event_batch where thread_id = $1', [threadId]);
    await client.query('rollback');
    client.release();
    expect([dropped.rows, again.rows, left.rows]).toEqual([[{ n: 1 }], [{ n: 0 }], []]);
  });
});

describe('release_run', () => {
  const release = (threadId: string, lease: number, stopping = true) =>
    rows(log.db, 'select * from lanefold.release_run($1, $2, $3, $4)', threadId, 'run', lease, stopping);
  const state = async (threadId: string) =>
    (
      await rows(
        log.db,
        'select status, enqueue_no, lease_until, claims_without_progress from lanefold._run where thread_id = $1',
        threadId,
      )
    )[0];

  test('puts the run back into the queue under a new number, and the claim does not count against it', async () => {
    const { threadId, run } = await claimed();
    expect(await release(threadId, 1)).toEqual([
      { thread_id: threadId, run_id: 'run', agent: 'agent', enqueue_no: 2, queue_shard: 0 },
    ]);
    expect(await state(threadId)).toEqual({
      status: 'queued',
      enqueue_no: 2,
      lease_until: null,
      claims_without_progress: 0,
    });
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ claimed: false, reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true, fresh: false, lease: 2 });
  });

  test('by a worker that is not stopping counts the claim: a run that no worker can commit ends as poisoned', async () => {
    const { threadId, run } = await claimed();
    for (let lease = 1; lease <= 5; lease++) {
      expect(await release(threadId, lease, false)).toMatchObject([{ enqueue_no: lease + 1 }]);
      expect(await state(threadId)).toMatchObject({ status: 'queued', claims_without_progress: lease });
      if (lease < 5) await run.claim({ enqueueNo: lease + 1 });
    }
    expect(await run.claim({ enqueueNo: 6 })).toMatchObject({ claimed: false, status: 'failed', reason: 'poisoned' });
  });

  test('is fenced: another lease, a second time and an ended run change nothing', async () => {
    const { threadId, run } = await claimed();
    expect(await release(threadId, 7)).toEqual([]);
    expect(await state(threadId)).toMatchObject({ status: 'running', enqueue_no: 1 });
    await release(threadId, 1);
    expect(await release(threadId, 1)).toEqual([]);
    await refused(run.commit(0, answer('late')), 'lease_lost');
    await run.cancel();
    expect(await release(threadId, 1)).toEqual([]);
    expect(await state(threadId)).toMatchObject({ status: 'cancelled', enqueue_no: 2 });
  });
});
