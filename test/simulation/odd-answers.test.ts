// @module-tag slow
import { expect, test } from 'vitest';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';

/** Each has a model with odd answers, such as calls that must not run. */
const [first, ...others] = [7, 8, 10];
const name = 'odd answers of models contradict no promise (seed %i)';

async function contradictsNothing(seed: number): Promise<void> {
  const { found } = await simulate(new Model(), { seed, steps: 4_000 });
  expect(found).toEqual([]);
}

test.each([first!])(name, contradictsNothing);
test.each(others)(name, { tags: 'slow' }, contradictsNothing);
