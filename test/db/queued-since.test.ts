import { afterAll, beforeAll, expect, test } from 'vitest';
import { countRuns } from '../../src/database/store/run/count-runs.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { newThread, openLog, value, type TestLog } from './helpers.ts';
import { answer, asks, sqlRun } from './sql-run.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog({ connections: 1 })));
afterAll(() => log.drop());

/** Moves the clock to so many minutes after the start of the test. */
const at = (minutes: number) =>
  // the pool has one connection
  value(log.db, "select set_config('lanefold.clock_offset', $1, false)", `${minutes} minutes`);

const minutes = (seconds: number) => Math.floor(seconds / 60);

async function oldest() {
  const { oldestQueuedSeconds, oldestReadySeconds } = await countRuns(log.db);
  return [minutes(oldestQueuedSeconds), minutes(oldestReadySeconds)];
}

async function start(minute = 0, fields: Parameters<ReturnType<typeof sqlRun>['enqueue']>[0] = {}) {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await at(minute);
  await run.enqueue(fields);
  return { ...run, threadId };
}

/** How long a claim says that the run has waited, in minutes. */
const claimed = async (run: ReturnType<typeof sqlRun>, fields: Parameters<typeof run.claim>[0] = {}) => {
  const claim = await run.claim(fields);
  expect(claim).toMatchObject({ claimed: true });
  return minutes(claim['queued_ms'] / 1_000);
};

const limited = { limit: 'slots' };

test.skipIf(citusLacks.clocks)(
  'the oldest queued run has waited since it was accepted, whatever sweeps and workers do with its job',
  async () => {
    const run = await start();
    await at(1);
    await run.seen();
    await run.move();
    await at(2);
    expect(await run.queueAgain()).toMatchObject([{ enqueue_no: 2 }]);
    await at(3);
    await run.missing(2);
    await value(log.db, 'select lanefold.resume_run($1, $2, 0, $3)', run.threadId, 'run', 'lf');
    await at(4);
    expect(await oldest()).toEqual([4, 4]);
    expect(minutes((Date.now() + 240_000 - (await run.row())['queued_since'].getTime()) / 1_000)).toBe(4);
    expect(await claimed(run, { enqueueNo: 2 })).toBe(4);
    expect((await run.row())['queued_since']).toBeNull();
    expect(await oldest()).toEqual([0, 0]);
    await run.commit(0, answer('done'));
  },
);

test.skipIf(citusLacks.clocks)(
  'a run that a limit holds has waited since it was accepted, and no worker could take it',
  async () => {
    const run = await start();
    await value(log.db, 'select lanefold.await_limit($1, $2, 1, $3)', run.threadId, 'run', limited);
    for (const [minute, lease] of [
      [1, 1],
      [2, 2],
    ] as const) {
      await at(minute);
      await run.claim();
      await value(log.db, 'select lanefold.delay_run($1, $2, $3, $4)', run.threadId, 'run', lease, limited);
    }
    await at(4);
    expect(await oldest()).toEqual([4, 0]);
    expect(await claimed(run)).toBe(4);
    await run.commit(0, answer('done'), { lease: 3 });
  },
);

test.skipIf(citusLacks.clocks)('a run that has made progress has waited since its worker gave it back', async () => {
  const run = await start();
  await at(1);
  await run.claim();
  await run.commit(0, asks(['a']));
  await at(2);
  await value(log.db, 'select lanefold.delay_run($1, $2, 1, $3)', run.threadId, 'run', limited);
  await at(4);
  expect(await oldest()).toEqual([2, 0]);
  expect(await claimed(run)).toBe(2);
  await at(5);
  const released = 'select enqueue_no from lanefold.release_run($1, $2, 2, true)';
  expect(await value(log.db, released, run.threadId, 'run')).toBe(2);
  await at(6);
  // the second worker has done nothing
  expect(await oldest()).toEqual([4, 4]);
  await run.finish({ status: 'failed', reason: 'error' });
});

test.skipIf(citusLacks.clocks)('a run that waits for its turn, or for its start, waits for no worker', async () => {
  const first = await start();
  const next = sqlRun(log.db, first.threadId, 'next');
  await first.claim();
  await next.enqueue({ busy: 'wait' });
  await at(3);
  expect(await oldest()).toEqual([0, 0]);
  await first.commit(0, answer('done'));
  await at(4);
  expect(await oldest()).toEqual([1, 1]);
  expect(await claimed(next)).toBe(1);
  await next.commit(0, answer('done'));

  const later = await start(0, { delayMs: 180_000 });
  await at(2);
  expect(await oldest()).toEqual([0, 0]);
  await at(4);
  expect(await oldest()).toEqual([1, 1]);
  expect(await claimed(later)).toBe(1);
  await later.commit(0, answer('done'));
});

test.skipIf(citusLacks.clocks)('a run continues, after approval or a lost worker, since then', async () => {
  const run = await start();
  await run.claim();
  await run.commit(0, asks(['a']));
  await run.suspend(1, { round: 1, approvals: [0] });
  await at(3);
  expect(await oldest()).toEqual([0, 0]);
  await run.decide(1, 0, 'approved');
  await at(5);
  expect(await oldest()).toEqual([2, 2]);
  expect(await claimed(run, { enqueueNo: 2 })).toBe(2);
  await run.commit(2, { state: { phase: 'llm' } }, { lease: 2 });
  // its lease was for one minute
  await at(9);
  expect(await oldest()).toEqual([0, 0]);
  expect(await claimed(run, { enqueueNo: 2, workerId: 'w2' })).toBe(3);
});
