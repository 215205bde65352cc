import { defineAgent, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ignoreEnded } from '../../src/runs/queue/bull-workers.ts';
import { fakeModel } from '../support/fake-model.ts';
import { queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const leaseMs = 600;

interface Lock {
  state: string;
  until: string;
  left: number;
}

test('a lock that cannot be renewed is missed only while the run of its job is held', async () => {
  const claims: Record<string, object | undefined> = { held: {}, ended: {}, taken: {}, unclaimed: undefined };
  const worker = {
    async extendJobLocks(ids: string[]) {
      claims['ended'] = undefined;
      claims['taken'] = {};
      return ids;
    },
  };
  ignoreEnded(worker, (id) => claims[id]);
  const ids = Object.keys(claims);
  const lost = await worker.extendJobLocks.call(worker, ids);
  expect(lost).toEqual(['held']);
});

describe.skipIf(queueBackend() === 'redis')('the lock of a job', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const agents = [
      defineAgent({ name: 'echo', model: 'scripted:echo' }),
      defineAgent({ name: 'patient', model: 'never' }),
    ];
    lanefold = await startLanefold({ agents, models: { never: fakeModel(() => new Promise(() => {})) } });
  });
  afterAll(() => lanefold?.close());

  const readLock = async ({ id }: RunRef): Promise<Lock | undefined> => {
    const { rows } = await lanefold.database.pool.query<Lock>(
      `select state, locked_until_ms as until, (locked_until_ms - extract(epoch from clock_timestamp()) * 1000)::float as left
       from bullmq.job where id = $1`,
      [`${id}.1`],
    );
    return rows[0];
  };

  test('whose run is not claimed yet is short: it is missed as soon as its worker dies, however long it waits', async () => {
    const holder = await lanefold.database.pool.connect();
    try {
      const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'hi' });
      // its claim waits for the thread
      await holder.query('begin');
      await holder.query('select from lanefold.thread where id = $1 for update', [run.threadId]);
      await lanefold.startWorker({ leaseMs, stopGraceMs: 0 });
      const seen = new Set<string>();
      await until('the lock is renewed three times', async () => {
        const lock = await readLock(run);
        if (lock?.state !== 'active') return false;
        // one lease by the worker's estimate of the database's clock, and not five
        expect(lock.left).toBeLessThan(2 * leaseMs);
        return seen.add(lock.until).size > 3;
      });
      await holder.query('rollback');
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    } finally {
      holder.release(true);
    }
  });

  test('whose run waits for its model is renewed less than once a lease', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'patient', input: 'hi' });
    const next = async (what: string, found: (lock: Lock) => boolean) => {
      let last: Lock | undefined;
      await until(what, async () => (last = await readLock(run)) !== undefined && found(last));
      return Number(last!.until);
    };
    // a renewal before the claim lasts one lease, those after it last five
    const first = await next('the lock lasts', ({ left }) => left > 2 * leaseMs);
    const second = await next('the lock is renewed', ({ until: end }) => Number(end) > first);
    // three leases, less the time that the first renewal took
    expect(second - first).toBeGreaterThan(leaseMs);
    expect(await readLock(run)).toMatchObject({ state: 'active' });
  });
});
