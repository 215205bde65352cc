// @module-tag slow
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
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

const seeds = readFileSync(`${import.meta.dirname}/mutants.txt`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' | '));

test('the list has each mutant once', () => {
  expect(seeds.map(([name]) => name)).toEqual(mutants.map(({ name }) => name));
});

/** Any change of the product gives every seed another history, so others are tried too. */
const others = [1, 2, 3, 4];

describe('a broken function is found', () => {
  test.each(seeds.filter((_, n) => n % 4 === 0))('%s', isFound);
  test.each(seeds.filter((_, n) => n % 4 !== 0))('%s', { tags: 'long' }, isFound);

  async function isFound(name?: string, seed?: string): Promise<void> {
    const mutant = mutants.find((one) => one.name === name)!;
    for (const next of [Number(seed), ...others]) {
      const { found } = await onDatabase({ seed: next, steps: 500 }, mutant);
      if (found.some(({ check }) => check === mutant.caughtBy)) return;
      console.log(`${name}: the seed ${next} does not find it (${found.map(({ check }) => check).join(', ')})`);
    }
    expect.fail('no seed finds it');
  }
});
