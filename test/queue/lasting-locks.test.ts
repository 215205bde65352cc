import { defineAgent } from 'lanefold';
import { expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const leaseMs = 600;

interface Lock {
  state: string;
  until: string;
  left: number;
}

const readLock = async (lanefold: TestLanefold): Promise<Lock | undefined> => {
  const { rows } = await lanefold.database.pool.query<Lock>(
    `select state, locked_until_ms as until, (locked_until_ms - extract(epoch from clock_timestamp()) * 1000)::float as left
     from bullmq.job`,
  );
  return rows[0];
};

test.skipIf(queueBackend() === 'redis')(
  'a job whose run is not claimed yet is missed as soon as its worker dies, however long it waits',
  async () => {
    const lanefold = await startLanefold({ agents: [defineAgent({ name: 'a', model: 'scripted:echo' })] });
    const holder = await lanefold.database.pool.connect();
    try {
      const run = await lanefold.runs.enqueue({ agent: 'a', input: 'hi' });
      // its claim waits for the thread
      await holder.query('begin');
      await holder.query('select from lanefold.thread where id = $1 for update', [run.threadId]);
      await lanefold.startWorker({ leaseMs, stopGraceMs: 0 });
      const seen = new Set<string>();
      await until('the lock is renewed three times', async () => {
        const lock = await readLock(lanefold);
        if (lock?.state !== 'active') return false;
        expect(lock.left).toBeLessThanOrEqual(leaseMs);
        return seen.add(lock.until).size > 3;
      });
      await holder.query('rollback');
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    } finally {
      holder.release(true);
      await lanefold.close();
    }
  },
);

test.skipIf(queueBackend() === 'redis')(
  'a job whose run waits for its model is rewritten less than once a lease',
  async () => {
    const model = fakeModel(() => new Promise(() => {}));
    const lanefold = await startLanefold({
      agents: [defineAgent({ name: 'a', model: 'fake' })],
      models: { fake: model },
    });
    try {
      await lanefold.startWorker({ leaseMs, stopGraceMs: 0 });
      await lanefold.runs.enqueue({ agent: 'a', input: 'hi' });
      const lock = () => readLock(lanefold);
      const next = async (what: string, found: (lock: Lock) => boolean) => {
        let last: Lock | undefined;
        await until(what, async () => (last = await lock()) !== undefined && found(last));
        return Number(last!.until);
      };
      // a renewal before the claim lasts one lease, those after it last five
      const first = await next('the lock lasts', ({ left }) => left > 2 * leaseMs);
      const second = await next('the lock is renewed', ({ until: end }) => Number(end) > first);
      // three leases, less the time that the first renewal took
      expect(second - first).toBeGreaterThan(leaseMs);
      expect(await lock()).toMatchObject({ state: 'active' });
    } finally {
      await lanefold.close();
    }
  },
);
