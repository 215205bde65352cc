// @module-tag slow
import { describe, expect, test } from 'vitest';
import { finds, seedsIn } from './found.ts';
import { mutants } from './mutants.ts';
import { onDatabase } from './on-database.ts';

describe('a simulation of all rooms', () => {
  // 12 branches a lot; in the last two, circuits open beside limits, and runs that wait or probe are cancelled
  test.each([4, 9, 12, 103, 105])('contradicts no promise (seed %i)', async (seed) => {
    const { found } = await onDatabase({ seed, steps: 500 });
    expect(found).toEqual([]);
  });

  test('depends on its seed alone', async () => {
    const [one, again] = [await onDatabase({ seed: 2, steps: 300 }), await onDatabase({ seed: 2, steps: 300 })];
    expect(JSON.stringify(again.events)).toBe(JSON.stringify(one.events));
    expect([...again.happened]).toEqual([...one.happened]);
  });
});

const seeds = seedsIn(`${import.meta.dirname}/mutants.txt`);

test('the list has each mutant once', () => {
  expect(seeds.map(([name]) => name)).toEqual(mutants.map(({ name }) => name));
});

describe('a broken function is found', () => {
  const isFound = finds(mutants);
  test.each(seeds.filter((_, n) => n % 4 === 0))('%s', isFound);
  test.each(seeds.filter((_, n) => n % 4 !== 0))('%s', { tags: 'long' }, isFound);
});
