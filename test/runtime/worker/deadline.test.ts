import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { eventsOf, expectSound } from '../../support/log.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const leaseMs = 1_000;

describe('a worker that was frozen beyond its lease', () => {
  let lanefold: Runtime;
  /** How often a call of the model was prepared. */
  let prepared = 0;
  beforeAll(async () => {
    const agent = defineAgent({
      name: 'a',
      model: unset,
      requestTransformer() {
        prepared += 1;
        // nothing else of this process happens meanwhile, as if it was suspended between its look at the lease and the call
        if (prepared === 1) for (const until = performance.now() + 2 * leaseMs; performance.now() < until;);
      },
    });
    lanefold = await startRuntime([agent], { worker: { leaseMs, sweepMs: 50 } });
  });
  afterAll(() => lanefold?.close());

  test('calls no model, and the run is claimed again', async () => {
    const model = lanefold.model([{ text: 'done' }]);
    const { run, threadId, id } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    expect({ prepared, called: model.calls.length }).toEqual({ prepared: 2, called: 1 });
    const kinds = (await eventsOf(lanefold, threadId, id)).map(({ kind }) => kind);
    expect(kinds).toContain('llm_lost');
    await expectSound(lanefold, threadId);
  });
});
