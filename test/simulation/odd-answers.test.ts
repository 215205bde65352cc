import { expect, test } from 'vitest';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';

/** Each has a model with odd answers, such as calls that must not run. */
const seeds = [7, 8, 10];

test.each(seeds)('odd answers of models contradict no promise (seed %i)', async (seed) => {
  const { found } = await simulate(new Model(), { seed, steps: 4_000 });
  expect(found).toEqual([]);
});
