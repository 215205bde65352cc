// @module-tag slow
import { APICallError } from '@ai-sdk/provider';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

/** A provider that can be down, and counts the calls it gets, and those at the same time. */
function provider() {
  const state = { down: false, calls: 0, callsWhileDown: 0, atOnce: 0, mostAtOnce: 0, status: 529, headers: {} };
  const model = fakeModel(async () => {
    state.calls += 1;
    state.atOnce += 1;
    state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    state.atOnce -= 1;
    if (!state.down) return { text: 'Done.' };
    state.callsWhileDown += 1;
    throw new APICallError({
      message: 'Overloaded.',
      url: 'x',
      requestBodyValues: {},
      statusCode: state.status,
      responseHeaders: state.headers,
    });
  });
  return { state, model };
}

describe.skipIf(noRedis())('an outage of a provider, with two workers', () => {
  const { state, model } = provider();
  let lanefold: TestLanefold;
  let other: Lanefold;
  const circuits = { minCalls: 4, openMs: 200, windowMs: 60_000 };
  beforeAll(async () => {
    lanefold = await startLanefold({
      circuits,
      models: { 'fake:m': model },
      agents: [defineAgent({ name: 'support', model: 'fake:m', maxModelRetries: 3 })],
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

  test('its runs wait without a worker and end once it is over', async () => {
    state.down = true;
    const runs = await ask(20);
    await until('it is open', async () => (await circuit())?.state === 'open');
    await until('every run waits', async () => (await waiting()).length >= 19);
    const [first] = await waiting();
    expect(first).toMatchObject({ status: 'queued', limitedBy: { circuit: 'fake:m' } });
    expect(await circuit()).toMatchObject({ reason: 'overloaded', openedBy: null });
    const before = state.callsWhileDown;
    // probes follow each other, and none of the runs fails by them
    await until('it was probed', () => state.callsWhileDown > before + 5);
    state.down = false;
    const ends = await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    expect(ends.map(({ status }) => status)).toEqual(Array(20).fill('completed'));
    expect(await circuit()).toMatchObject({ state: 'closed', openedAt: null, reason: null });
  });
});
