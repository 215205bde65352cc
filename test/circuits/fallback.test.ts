// @module-tag long
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { provider } from './provider.ts';

describe.skipIf(noRedis())('a chain of models whose providers fail', () => {
  const first = provider();
  const second = provider();
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const chain = ['one:m', 'two:m'];
    lanefold = await startLanefold({
      circuits: { minCalls: 4, share: 0.05, openMs: 300, windowMs: 60_000 },
      models: { 'one:m': first.model, 'two:m': second.model },
      agents: [defineAgent({ name: 'support', model: chain, maxModelRetries: 2 })],
    });
    await lanefold.startWorker({ sweepMs: 100 });
  });
  afterAll(() => lanefold?.close());

  const ask = (n: number) =>
    Promise.all(Array.from({ length: n }, (_, no) => lanefold.runs.enqueue({ agent: 'support', input: `go ${no}` })));
  const endsOf = async (runs: Awaited<ReturnType<typeof ask>>) =>
    (await Promise.all(runs.map((run) => lanefold.runs.wait(run)))).map(({ status }) => status);
  const stateOf = async (model: string) => (await lanefold.circuits.list()).find((one) => one.model === model)?.state;

  test('while the circuit of the first is open, the second answers and nothing waits', async () => {
    first.state.down = true;
    expect(await endsOf(await ask(20))).toEqual(Array(20).fill('completed'));
    await until('the circuit is open', async () => (await stateOf('one:m')) === 'open');
    const before = first.state.callsWhileDown;
    const answered = second.state.calls;
    first.state.mostAtOnce = 0;
    expect(await endsOf(await ask(30))).toEqual(Array(30).fill('completed'));
    expect(second.state.calls).toBe(answered + 30);
    // only probes reach the first
    expect(first.state.mostAtOnce).toBeLessThanOrEqual(1);
    expect(first.state.callsWhileDown - before).toBeLessThan(30);
    first.state.down = false;
    await until('a probe has closed the circuit', async () => {
      await endsOf(await ask(1));
      return (await stateOf('one:m')) === 'closed';
    });
    const calls = first.state.calls;
    await endsOf(await ask(5));
    expect(first.state.calls).toBe(calls + 5);
  });

  test.each(['first', 'second'] as const)(
    'while both are open, runs wait without using up their retries, and end once the %s answers again',
    async (which) => {
      first.state.down = second.state.down = true;
      const runs = await ask(12);
      await until(
        'both are open',
        async () => (await stateOf('one:m')) === 'open' && (await stateOf('two:m')) === 'open',
      );
      const later = await ask(12);
      const all = [...runs, ...later];
      await until('every run waits', async () => {
        const { data } = await lanefold.runs.list({ waitingFor: 'limit', limit: 100 });
        return data.length >= all.length - 2;
      });
      ({ first, second })[which].state.down = false;
      expect(await endsOf(all)).toEqual(Array(24).fill('completed'));
      first.state.down = second.state.down = false;
      await until('both are closed', async () => {
        await endsOf(await ask(1));
        await lanefold.circuits.close('two:m');
        return (await stateOf('one:m')) === 'closed';
      });
    },
  );
});
