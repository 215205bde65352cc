import { defineAgent, type AotResult, type EnqueueOptions, type Json, type Runs, type TotResult } from 'lanefold';
import { describe, expectTypeOf, test } from 'vitest';

declare module 'lanefold' {
  interface StrategyTypes {
    vote: { options: { samples?: number }; result: number };
  }
}

// The compiler is what fails here: nothing of this is executed.
describe('a strategy that is named has typed options and a typed result', () => {
  const request = { agent: 'a', input: 'x' };
  const ask = async (runs: Runs) => {
    const tree = await runs.enqueue({ ...request, strategy: 'tot', strategyOptions: { maxDepth: 2, beamWidth: null } });
    expectTypeOf((await runs.wait(tree)).result).toEqualTypeOf<TotResult | null>();
    const search = await runs.enqueue({ ...request, strategy: 'aot', strategyOptions: { profile: 'long' } });
    expectTypeOf((await runs.wait(search)).result).toEqualTypeOf<AotResult | null>();
    const improved = await runs.enqueue({ ...request, strategy: 'trm', strategyOptions: { history: true } });
    expectTypeOf((await runs.wait(improved)).result).toEqualTypeOf<string | null>();
    const own = await runs.enqueue({ ...request, strategy: 'vote', strategyOptions: { samples: 3 } });
    expectTypeOf((await runs.wait(own)).result).toEqualTypeOf<number | null>();
  };

  const refused = (runs: Runs) => [
    // @ts-expect-error misspelt
    runs.enqueue({ ...request, strategy: 'tot', strategyOptions: { maxDepht: 1 } }),
    // @ts-expect-error a wrong value
    runs.enqueue({ ...request, strategy: 'tot', strategyOptions: { traversal: 'upwards' } }),
    // @ts-expect-error of another strategy
    runs.enqueue({ ...request, strategy: 'aot', strategyOptions: { maxDepth: 1 } }),
    // @ts-expect-error it takes none
    runs.enqueue({ ...request, strategy: 'cot', strategyOptions: { maxDepth: 1 } }),
    // @ts-expect-error of a strategy of one's own
    runs.enqueue({ ...request, strategy: 'vote', strategyOptions: { sample: 1 } }),
    // @ts-expect-error misspelt
    defineAgent({ name: 'a', model: 'scripted:echo', strategy: 'tot', strategyOptions: { maxDepht: 1 } }),
  ];

  const unknown = async (runs: Runs, options: EnqueueOptions, id: string) => {
    const run = await runs.enqueue({ ...options, strategyOptions: { anything: 1 } });
    expectTypeOf((await runs.wait(run)).result).toEqualTypeOf<Json>();
    expectTypeOf((await runs.wait({ threadId: 't', id })).result).toEqualTypeOf<Json>();
    expectTypeOf((await runs.wait<TotResult>({ threadId: 't', id })).result).toEqualTypeOf<TotResult | null>();
  };

  test('see above', () => expectTypeOf([ask, refused, unknown]).toBeArray());
});
