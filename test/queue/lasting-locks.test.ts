import { defineAgent } from 'lanefold';
import { expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { queueBackend, startLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

const leaseMs = 600;

interface Lock {
  state: string;
  until: string;
}

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
      const lock = async () =>
        (await lanefold.database.pool.query<Lock>('select state, locked_until_ms as until from bullmq.job')).rows[0];
      const renewed = async (before: number) => {
        let found: Lock | undefined;
        await until('the lock is renewed', async () => Number((found = await lock())?.until ?? 0) > before);
        return Number(found!.until);
      };
      const first = await renewed(0);
      const second = await renewed(first);
      const third = await renewed(second);
      // the first renewal makes it last; the one after it comes when most of that time is over
      expect(second - first).toBeGreaterThan(3 * leaseMs);
      expect(third - second).toBeGreaterThan(2 * leaseMs);
      expect(await lock()).toMatchObject({ state: 'active' });
    } finally {
      await lanefold.close();
    }
  },
);
