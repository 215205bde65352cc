// @module-tag long
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { provider } from './provider.ts';

describe.skipIf(noRedis())('an outage of a provider, with two workers', () => {
  const { state, model } = provider();
  let lanefold: TestLanefold;
  let other: Lanefold;
  const circuits = { minCalls: 4, openMs: 50, windowMs: 60_000 };
  const maxModelRetries = 3;
  beforeAll(async () => {
    lanefold = await startLanefold({
      circuits,
      models: { 'fake:m': model },
      agents: [defineAgent({ name: 'support', model: 'fake:m', maxModelRetries })],
    });
    other = await createLanefold(lanefold.options);
    for (const one of [lanefold, other]) await one.startWorker({ sweepMs: 100 });
  });
  afterAll(async () => {
    await other?.close();
    await lanefold?.close();
  });

  const ask = (n: number) =>
    Promise.all(Array.from({ length: n }, (_, no) => lanefold.runs.enqueue({ agent: 'support', input: `go ${no}` })));
  const waiting = async () => (await lanefold.runs.list({ waitingFor: 'limit' })).data;
  const circuit = async () => (await lanefold.circuits.list()).find(({ model }) => model === 'fake:m');

  const untilOrFailed = (what: string, holds: () => boolean | Promise<boolean>) =>
    until(what, async () => {
      expect((await lanefold.runs.list({ status: 'failed' })).data).toEqual([]);
      return holds();
    });

  test('its runs wait without a worker and end once it is over', async () => {
    state.down = true;
    const runs = await ask(6);
    await untilOrFailed('it is open', async () => (await circuit())?.state === 'open');
    await untilOrFailed('every run waits', async () => (await waiting()).length >= 5);
    const [first] = await waiting();
    expect(first).toMatchObject({ status: 'queued', limitedBy: { circuit: 'fake:m' } });
    expect(await circuit()).toMatchObject({ reason: 'overloaded', openedBy: null });
    const before = state.callsWhileDown;
    state.mostAtOnce = 0;
    // probes follow each other, and none of the runs fails by them: there are more of them than all runs have retries
    await untilOrFailed('it was probed', () => state.callsWhileDown > before + runs.length * maxModelRetries);
    expect(state.mostAtOnce).toBe(1);
    state.down = false;
    const ends = await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    expect(ends.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    expect(await circuit()).toMatchObject({ state: 'closed', openedAt: null, reason: null });
  });
});
