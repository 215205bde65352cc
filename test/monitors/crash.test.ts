// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quick, startHarness, type FaultHarness } from '../faults/harness.ts';

import { until } from '../support/until.ts';

const count = 12;

describe('a monitor whose worker dies', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = ({ prompt = '' }) => ({
      text: prompt.includes('by this rubric') ? '{"reason": "It is done.", "score": 0.5}' : 'Done.',
    });
  });
  afterAll(() => harness?.close());

  test.each([{ dieBefore: 'store_run_score:3' }, { dieAfter: 'store_run_score:3' }, { dieAfter: 'take_monitors:30' }])(
    '%o, has scored each run once, by a judgement',
    async (death) => {
      const { monitors, runs, database } = harness;
      const name = Object.entries(death).flat().join('-').replaceAll(/\W|_/g, '-');
      await monitors.set(name, { sample: 1, agents: ['fault'], rubric: 'Is done.', judge: { agent: 'fault' } });
      const first = await harness.spawnWorker({ name: `first-${name}`, worker: quick, ...death });
      const asked = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          runs.enqueue({ agent: 'fault', input: `${i}`, requestId: `${name}-${i}` }),
        ),
      );
      await first.waitForExit();
      await harness.quiet();
      // as if the half minute were over for which the dead worker has the monitor
      await database.pool.query('update lanefold._monitor set held_until = now()');
      const second = await harness.spawnWorker({ name: `second-${name}`, worker: quick });
      const scores = await until('all are scored', async () => {
        const { data } = await monitors.scores(name, { limit: 1_000 });
        return data.length >= count && data.every(({ status }) => status === 'done') && data;
      });
      expect(scores.map(({ runId }) => runId).sort()).toEqual(asked.map(({ id }) => id).sort());
      for (const { score, scores: given } of scores) expect([score, given.length]).toEqual([0.5, 1]);
      await monitors.remove(name);
      await second.kill();
    },
  );
});
