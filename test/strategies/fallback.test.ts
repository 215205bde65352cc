import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fallbackReasons, type FallbackReason } from '../../src/agent/models/fallback-reason.ts';
import { chainOf, type ModelChain } from '../../src/agent/models/model-chain.ts';
import { afterFailure, modelAt, placeAfter, type ChainPlace } from '../../src/agent/strategies/fallback.ts';
import type { RunFacts, StrategyEvent } from '../../src/agent/strategies/machine.ts';
import type { ReactState } from '../../src/agent/strategies/react.ts';
import { cases } from '../support/cases.ts';
import { answered, call, facts, finished, given, llm } from './given.ts';

const chain = (names: string, more: Partial<ModelChain> = {}): Pick<RunFacts, 'model' | 'chain'> => {
  const [model, ...models] = names.split(' ');
  const { on, sticky } = chainOf(model!, undefined);
  return { model: model!, chain: { ...chainOf(model!, { models, on: [...on], sticky }), ...more } };
};

const fails = (reason: FallbackReason | undefined, more: object = {}): StrategyEvent => ({
  type: 'model_failed',
  error: { type: 'llm_request', message: 'broken' },
  retryable: reason === 'overloaded' || reason === 'rate_limited',
  ...(reason ? { reason } : {}),
  ...more,
});

describe('a chain of models', () => {
  const abc = chain('a b c');

  test('after a failure that it names, the next model is asked at once, and the trace says which', () => {
    const { state, step, command } = given(llm, abc).when(fails('overloaded'));
    expect(command).toMatchObject({ type: 'call_model', callId: 'run_1.2', model: 'b', afterMs: 0 });
    expect(step!.events).toMatchObject([
      {
        kind: 'llm_retry',
        data: { call_id: 'run_1.1', attempt: 1, delay_ms: 0, model: 'a', next_model: 'b', reason: 'overloaded' },
      },
      { kind: 'llm_started', data: { call_id: 'run_1.2', model: 'b' } },
    ]);
    expect(state).toMatchObject({ retries: 0, place: { at: 1, from: 0 } });
  });

  test('after another failure, the first model is asked again, as if it were alone', () => {
    const only = chain('a b', { on: ['auth'] });
    expect(given(llm, only).when(fails('overloaded')).command).toMatchObject({ callId: 'run_1.2', afterMs: 500 });
    expect(given(llm, only).when(fails('overloaded')).command).not.toHaveProperty('model');
    expect(given(llm, only).when(fails(undefined)).command).toMatchObject({ type: 'fail' });
  });

  test('a model that stands in is passed over whatever its failure, unless the budget of the run is used up', () => {
    const second = given(llm, abc).when(fails('auth')).state;
    expect(given(second, abc).when(fails(undefined)).command).toMatchObject({ model: 'c' });
    const spent = fails(undefined, { error: { type: 'budget_exhausted', message: 'spent' } });
    expect(given(second, abc).when(spent).step).toMatchObject({ finish: { reason: 'budget_exhausted' } });
  });

  test('once it is through, the first model is asked after a wait, if one of them may answer later', () => {
    let state: ReactState = llm;
    for (const event of [fails('rate_limited', { retryAfterMs: 7_000 }), fails('auth')])
      state = given(state, abc).when(event).state;
    const again = given(state, abc).when(fails('timeout'));
    expect(again.command).toMatchObject({ type: 'call_model', afterMs: 7_000 });
    expect(again.command).not.toHaveProperty('model');
    expect(again.state).toMatchObject({ retries: 1 });
    expect(again.state.place).toBeUndefined();
  });

  test('once it is through and no model may answer later, the run fails with the error of the last one', () => {
    let state: ReactState = llm;
    for (const event of [fails('auth'), fails('auth')]) state = given(state, abc).when(event).state;
    expect(given(state, abc).when(fails('auth')).command).toMatchObject({
      type: 'fail',
      error: { message: 'No model of the chain answered. The last one, c: broken' },
    });
  });

  test('a request that is too long goes to the other models whole, and is shortened once they have refused it too', () => {
    const room = { model: 'b', window: 100 } as never;
    const first = given(llm, chain('a b')).when(fails('context_too_long', { room }));
    expect(first.command).toMatchObject({ model: 'b' });
    expect(first.state.room).toBeUndefined();
    const second = given(first.state, chain('a b')).when(fails('context_too_long', { room }));
    expect(second.command).toMatchObject({ model: 'b', room });
    expect(second.state).toMatchObject({ shortened: true });
  });

  test.each([
    ['run', 'b'],
    ['thread', 'b'],
    [false, undefined],
  ] as const)('sticky %s: the call after an answer of b asks %s', (sticky, model) => {
    const run = chain('a b', { sticky });
    let state = given(llm, run).when(fails('overloaded')).state;
    state = given(state, run).when(answered({ toolCalls: [call('1')] })).state;
    const { command, step } = given(state, run).when(finished([call('1')]));
    expect((command as { model?: string }).model).toBe(model);
    expect(step!.thenEvents![0]!.data).toMatchObject({ model: model ?? 'a' });
  });

  test('a worker that takes over asks the model that was being asked', () => {
    const { state } = given(llm, abc).when(fails('overloaded'));
    const committed = JSON.parse(JSON.stringify(state)) as ReactState;
    expect(given(committed, abc).when('resume').command).toMatchObject({ model: 'b' });
    // after a wait, any model of the round may answer
    expect(given(committed, { ...abc, waited: true }).when('resume').command).not.toHaveProperty('model');
  });

  test('a run of a thread that is sticky begins with the model that answered last', () => {
    const run = { ...chain('a b c', { sticky: 'thread' }), chainStart: 2 };
    const start = given(null, run).when('start');
    expect(start.command).toMatchObject({ model: 'c' });
    expect(given(start.state, run).when(fails('overloaded')).command).not.toHaveProperty('model');
  });

  test('a limit may pass a call on until the round is through', () => {
    const run = chain('a b', { on: ['limit'] });
    const start = given(null, run).when('start');
    expect(start.command).toMatchObject({ passesOn: ['limit'] });
    expect(given(start.state, run).when(fails('limit')).command).not.toHaveProperty('passesOn');
  });
});

describe('for any failures', () => {
  const failure = fc.record({
    reason: fc.constantFrom<(FallbackReason | undefined)[]>(undefined, ...fallbackReasons),
    retryable: fc.boolean(),
    retryAfterMs: fc.constantFrom(undefined, 0, 20, 59_000, 61_000),
  });
  const setting = fc.record({
    size: fc.integer({ min: 1, max: 5 }),
    on: fc.subarray([...fallbackReasons]),
    start: fc.nat(4),
    maxModelRetries: fc.nat(3),
    sticky: fc.constantFrom<ModelChain['sticky'][]>('run', 'thread', false),
  });

  test('a call ends after at most as many attempts as models times rounds, each round in the order of the chain, and no model waits in between', () => {
    fc.assert(
      fc.property(setting, fc.array(failure, { minLength: 40, maxLength: 40 }), (given, failures) => {
        const { size, on, sticky, maxModelRetries } = given;
        const names = Array.from({ length: size }, (_, i) => `m${i}`);
        const models = names as unknown as ModelChain['models'];
        const run = { ...facts, model: 'm0', chain: { models, on, sticky }, maxModelRetries };
        const start = given.start % size;
        let place: ChainPlace | undefined = start > 0 ? { at: start, from: start, stays: true } : undefined;
        let retries = 0;
        let attempts = 0;
        let round: string[] = [modelAt(run, place)];
        for (const { retryAfterMs, reason, retryable } of failures) {
          attempts += 1;
          const failed = { retryable, ...(reason && { reason }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
          const next = afterFailure(run, place, retries, failed);
          if (!next) break;
          // what is stored is read by another worker
          const stored = JSON.parse(JSON.stringify(next)) as typeof next;
          const asked = modelAt(run, stored.place);
          if (stored.passes) {
            expect(stored.delayMs).toBe(0);
            expect(round).not.toContain(asked);
            expect(asked).toBe(names[(names.indexOf(round.at(-1)!) + 1) % size]);
            round.push(asked);
          } else {
            expect(stored.delayMs).toBeGreaterThan(0);
            expect(stored.delayMs).toBeLessThanOrEqual(60_000);
            expect(stored.retries).toBe(retries + 1);
            if (stored.place === undefined) expect(asked).toBe('m0');
            round = [asked];
          }
          ({ place, retries } = stored);
        }
        expect(attempts).toBeLessThanOrEqual(size * (maxModelRetries + 1));
        expect(placeAfter(place)?.wait_ms).toBeUndefined();
        if (sticky === false && start === 0) expect(placeAfter(place)).toBeUndefined();
      }),
      { numRuns: cases(200) },
    );
  });
});
