// @module-tag slow
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { onDatabase } from '../rooms/on-database.ts';
import { mutants } from './mutants.ts';
import { simulateBounded } from './simulate-bounded.ts';

const simulated = (seed: number, ...mutant: typeof mutants) =>
  onDatabase({ seed, steps: 500 }, mutant[0], simulateBounded);

describe('a simulation of all rooms with workers for a bounded time', () => {
  // in the last one, circuits close while no worker is there
  test.each([3, 6, 21])('contradicts no promise (seed %i)', async (seed) => {
    const { found } = await simulated(seed);
    expect(found).toEqual([]);
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
  test.each(seeds)('%s', async (name, seed) => {
    const mutant = mutants.find((one) => one.name === name)!;
    for (const next of [Number(seed), ...others]) {
      const { found } = await simulated(next, mutant);
      if (found.some(({ check }) => check === mutant.caughtBy)) return;
      console.log(`${name}: the seed ${next} does not find it (${found.map(({ check }) => check).join(', ')})`);
    }
    expect.fail('no seed finds it');
  });
});
