import { describe, expect, test } from 'vitest';
import { newThread, refused, rows, useLog } from './helpers.ts';
import { answer, sqlRun } from './sql-run.ts';

const log = useLog();

async function claimed(leaseMs = 60_000) {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim({ leaseMs });
  return { threadId, run, held: { thread_id: threadId, run_id: 'run', lease: 1 } };
}

const renew = (held: object[], leaseMs = 60_000) =>
  rows(log.db, 'select * from lanefold.renew_leases($1, $2)', JSON.stringify(held), leaseMs);
/** The jobs of all running runs, as a queue that has lost them all. */
const lostJobs = async (): Promise<object[]> =>
  rows(log.db, "select thread_id, id as run_id, enqueue_no from lanefold.run where status = 'running'");
const sweep = async (lost?: object[], { graceMs = 0, limit = 100 } = {}) =>
  rows(
    log.db,
    'select * from lanefold.sweep_runs($1, $2, $3)',
    graceMs,
    limit,
    JSON.stringify(lost ?? (await lostJobs())),
  );
const swept = async (threadId: string, lost?: object[], options = {}) =>
  (await sweep(lost, options)).filter((row) => row['thread_id'] === threadId);
const isPast = async (threadId: string) =>
  (
    await rows(
      log.db,
      'select lease_until < clock_timestamp() as past from lanefold.run where thread_id = $1',
      threadId,
    )
  )[0]!['past'];

describe('renew_leases', () => {
  test('renews all leases held in one statement and has nothing to tell', async () => {
    const [a, b, other] = [await claimed(-1_000), await claimed(-1_000), await claimed(-1_000)];
    expect(await renew([a.held, b.held])).toEqual([]);
    expect([await isPast(a.threadId), await isPast(b.threadId), await isPast(other.threadId)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('tells of cancels, and renews those too', async () => {
    const { threadId, run, held } = await claimed(-1_000);
    await run.cancel();
    expect(await renew([held])).toEqual([
      { thread_id: threadId, run_id: 'run', lost: false, cancel_requested: true, renewed: true },
    ]);
    expect(await isPast(threadId)).toBe(false);
  });

  test('tells of leases another worker took, of runs that ended and of runs that are gone, and renews none of them', async () => {
    const [taken, ended] = [await claimed(-1_000), await claimed()];
    await taken.run.claim({ leaseMs: -1_000 });
    await ended.run.commit(0, answer('done'));
    const gone = { thread_id: 'never-made', run_id: 'run', lease: 1 };
    const told = await renew([taken.held, ended.held, gone]);
    expect(told.map((row) => [row['thread_id'], row['lost']]).sort()).toEqual(
      [
        [gone.thread_id, true],
        [taken.threadId, true],
        [ended.threadId, true],
      ].sort(),
    );
    expect(await isPast(taken.threadId)).toBe(true);
  });

  test('waits for nobody who holds the run, and tells that it was not renewed, which is no loss', async () => {
    const { threadId, held } = await claimed(-1_000);
    const client = await log.pool.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from lanefold._run where thread_id = $1 for update', [threadId]);
      expect(await renew([held])).toEqual([
        { thread_id: threadId, run_id: 'run', lost: false, cancel_requested: false, renewed: false },
      ]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('sweep_runs', () => {
  test('raises the number of a run whose lease is past, so that only the new job may claim it', async () => {
    const { threadId, run } = await claimed(-1_000);
    expect(await swept(threadId)).toMatchObject([
      { thread_id: threadId, run_id: 'run', agent: 'agent', enqueue_no: 2, queue_shard: 0 },
    ]);
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ claimed: false, reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true, lease: 2 });
    await refused(run.commit(0, answer('zombie')), 'lease_lost');
  });

  test('leaves a healthy worker alone, and ended and waiting runs', async () => {
    const { threadId, run } = await claimed();
    await sqlRun(log.db, threadId, 'waiting').enqueue({ busy: 'wait' });
    const everything = ['run', 'waiting'].flatMap((run_id) =>
      [0, 1].map((enqueue_no) => ({ thread_id: threadId, run_id, enqueue_no })),
    );
    expect(await swept(threadId, everything)).toEqual([]);
    await run.commit(0, answer('done'));
    expect(
      await swept(
        threadId,
        everything.filter((q) => q.run_id === 'run'),
      ),
    ).toEqual([]);
  });

  test('leaves the runs of another queue to their own workers, but for its agents and after five minutes', async () => {
    const { threadId } = await claimed(-1_000);
    const other = async (agents: string[], adoptMs: number) =>
      (
        await rows(
          log.db,
          'select * from lanefold.sweep_runs(0, 100, $1, $2, $3, $4)',
          JSON.stringify(await lostJobs()),
          'another',
          adoptMs,
          agents as unknown as string,
        )
      ).filter((row) => row['thread_id'] === threadId);
    expect(await other([], 0)).toEqual([]);
    expect(await other(['agent'], 300_000)).toEqual([]);
    expect(await other(['agent'], 0)).toMatchObject([{ run_id: 'run', enqueue_no: 2 }]);
  });

  test('leaves alone what was given to the queue within the grace', async () => {
    const { threadId } = await claimed(-1_000);
    expect(await swept(threadId, undefined, { graceMs: 600_000 })).toEqual([]);
    expect(await swept(threadId)).toHaveLength(1);
    expect(await swept(threadId, undefined, { graceMs: 600_000 })).toEqual([]);
  });

  test('leaves a run alone whose lease is past while the queue has its job', async () => {
    const { threadId } = await claimed(-1_000);
    expect(await swept(threadId, [])).toEqual([]);
    expect(await swept(threadId, [{ thread_id: threadId, run_id: 'run', enqueue_no: 7 }])).toEqual([]);
    expect(await swept(threadId)).toHaveLength(1);
  });

  test('takes a queued run only under the number the caller missed', async () => {
    const threadId = await newThread(log);
    const run = sqlRun(log.db, threadId, 'run');
    await run.enqueue();
    expect(await swept(threadId)).toEqual([]);
    expect(await swept(threadId, [{ thread_id: threadId, run_id: 'run', enqueue_no: 7 }])).toEqual([]);
    expect(await swept(threadId, [{ thread_id: threadId, run_id: 'run', enqueue_no: 1 }])).toMatchObject([
      { enqueue_no: 2 },
    ]);
    expect(await swept(threadId, [{ thread_id: threadId, run_id: 'run', enqueue_no: 1 }])).toEqual([]);
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true });
  });

  test('of sweeps at the same time one gets the run', async () => {
    const { threadId } = await claimed(-1_000);
    await rows(
      log.db,
      "update lanefold._run set enqueued_at = enqueued_at - interval '1 hour' where thread_id = $1",
      threadId,
    );
    const found = await Promise.all([1, 2, 3, 4].map(() => swept(threadId, undefined, { graceMs: 600_000 })));
    expect(found.flat()).toMatchObject([{ enqueue_no: 2 }]);
  });

  test('waits for nobody who holds a run: takes the others, and that one when it is free', async () => {
    const [held, free] = [await claimed(-1_000), await claimed(-1_000)];
    const client = await log.pool.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from lanefold._run where thread_id = $1 for update', [held.threadId]);
      const found = (await sweep()).map((row) => row['thread_id']);
      expect(found).toContain(free.threadId);
      expect(found).not.toContain(held.threadId);
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await swept(held.threadId)).toMatchObject([{ enqueue_no: 2 }]);
  });

  test('gives no more than asked for', async () => {
    for (let i = 0; i < 3; i++) await claimed(-1_000);
    expect(await sweep(undefined, { limit: 2 })).toHaveLength(2);
  });
});

describe('release_run', () => {
  const release = (threadId: string, lease: number, stopping = true) =>
    rows(log.db, 'select * from lanefold.release_run($1, $2, $3, $4)', threadId, 'run', lease, stopping);
  const state = async (threadId: string) =>
    (
      await rows(
        log.db,
        'select status, enqueue_no, lease_until, fruitless_claims from lanefold._run where thread_id = $1',
        threadId,
      )
    )[0];

  test('puts the run back into the queue under a new number, and the claim does not count as fruitless', async () => {
    const { threadId, run } = await claimed();
    expect(await release(threadId, 1)).toEqual([
      { thread_id: threadId, run_id: 'run', agent: 'agent', enqueue_no: 2, queue_shard: 0 },
    ]);
    expect(await state(threadId)).toEqual({ status: 'queued', enqueue_no: 2, lease_until: null, fruitless_claims: 0 });
    expect(await run.claim({ enqueueNo: 1 })).toMatchObject({ claimed: false, reason: 'superseded' });
    expect(await run.claim({ enqueueNo: 2 })).toMatchObject({ claimed: true, fresh: false, lease: 2 });
  });

  test('of a worker that does not stop counts the claim: a run that no worker can commit ends as poisoned', async () => {
    const { threadId, run } = await claimed();
    for (let lease = 1; lease <= 5; lease++) {
      expect(await release(threadId, lease, false)).toMatchObject([{ enqueue_no: lease + 1 }]);
      expect(await state(threadId)).toMatchObject({ status: 'queued', fruitless_claims: lease });
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
