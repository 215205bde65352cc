import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { findQueuedRuns } from '../../src/database/store/run/find-queued-runs.ts';
import { newThread, useLog, value } from './helpers.ts';
import { answer, sqlRun } from './sql-run.ts';
import { resumeRun } from '../../src/database/store/run/queue-again.ts';

const log = useLog();

/** Sessions on a clock that is moved by `offset`; `close` moves it back for the next ones. */
async function openAt(offset: string) {
  const database = await value<string>(log.db, 'select current_database()');
  await log.onEachNode(`alter database ${database} set lanefold.clock_offset = '${offset}'`);
  const db = openDatabase({ url: log.url, max: 1 });
  return {
    db,
    close: async () => {
      await db.close();
      await log.onEachNode(`alter database ${database} reset lanefold.clock_offset`);
    },
  };
}

test('a clock that is moved ends a lease without waiting for it', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim({ leaseMs: 1_800_000 });
  expect(await run.claim({ workerId: 'w2' })).toMatchObject({ claimed: false, reason: 'leased' });
  expect(await run.queueAgain()).toEqual([]);

  const { db: later, close } = await openAt('1 hour');
  try {
    expect(
      await value<number>(later, 'select extract(epoch from lanefold._now() - clock_timestamp())::float8'),
    ).toBeCloseTo(3_600, 0);
    const afterwards = sqlRun(later, threadId, 'run');
    expect(await afterwards.queueAgain()).toMatchObject([{ enqueue_no: 2 }]);
    expect(await afterwards.claim({ enqueueNo: 2, workerId: 'w2' })).toMatchObject({ claimed: true, lease: 2 });
    await afterwards.commit(0, answer('done'), { lease: 2 });
    const { duration_ms: durationMs } = await afterwards.row();
    expect(Number(durationMs)).toBeGreaterThan(3_500_000);
  } finally {
    await close();
  }
});

test('after the clock went back an hour, the runs of a dead worker need not wait for it', async () => {
  const threadId = await newThread(log);
  const { db: before, close } = await openAt('1 hour');
  const dead = sqlRun(before, threadId, 'dead');
  try {
    await dead.enqueue();
    await dead.claim({ leaseMs: 60_000 });
  } finally {
    await close();
  }
  const run = sqlRun(log.db, threadId, 'dead');
  expect(await run.queueAgain({ graceMs: 5_000 })).toMatchObject([{ enqueue_no: 2 }]);
  expect(await run.claim({ enqueueNo: 2, workerId: 'w2' })).toMatchObject({ claimed: true, lease: 2 });
  await run.commit(0, answer('done'), { lease: 2 });
});

test('after the clock went back an hour, a lost job and the checkpoint of a dead worker need not wait for it', async () => {
  const lost = await newThread(log);
  const held = await newThread(log);
  const { db: before, close } = await openAt('1 hour');
  try {
    await sqlRun(before, lost, 'lost').enqueue();
    const dead = sqlRun(before, held, 'held');
    await dead.enqueue();
    await dead.claim({ leaseMs: 60_000 });
  } finally {
    await close();
  }
  const limits = {
    graceMs: 5_000,
    cancelGraceMs: 0,
    queuePrefix: 'lf',
    adoptMs: 300_000,
    adoptable: [],
    known: { agents: [], strategies: [], versions: [], tools: [] },
  };
  expect(await findQueuedRuns(log.db, limits, 10)).toMatchObject([{ thread_id: lost, run_id: 'lost', taken: false }]);
  expect(await resumeRun(log.db, held, 'held', { step: 0, queuePrefix: 'lf' })).toMatchObject({ enqueue_no: 2 });
  expect(await sqlRun(log.db, held, 'held').claim({ enqueueNo: 2, workerId: 'w2' })).toMatchObject({ claimed: true });
});

test('a clock that went back less than a lease takes no run from its worker', async () => {
  const threadId = await newThread(log);
  const { db: before, close } = await openAt('30 seconds');
  const run = sqlRun(before, threadId, 'alive');
  try {
    await run.enqueue();
    await run.claim({ leaseMs: 60_000 });
  } finally {
    await close();
  }
  const now = sqlRun(log.db, threadId, 'alive');
  expect(await now.queueAgain({ graceMs: 5_000 })).toEqual([]);
  expect(await now.claim({ workerId: 'w2' })).toMatchObject({ claimed: false, reason: 'leased' });
  await now.commit(0, answer('done'));
});
