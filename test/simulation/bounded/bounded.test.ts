// @module-tag slow
import { describe, expect, test } from 'vitest';
import { finds, seedsIn } from '../rooms/found.ts';
import { onDatabase } from '../rooms/on-database.ts';
import { mutants } from './mutants.ts';
import { simulateBounded } from './simulate-bounded.ts';

describe('a simulation of all rooms with workers for a bounded time', () => {
  // in the last one, circuits close while no worker is there
  test.each([3, 6, 21])('contradicts no promise (seed %i)', async (seed) => {
    const { found } = await onDatabase({ seed, steps: 500 }, undefined, simulateBounded);
    expect(found).toEqual([]);
  });
});

const seeds = seedsIn(`${import.meta.dirname}/mutants.txt`);

test('the list has each mutant once', () => {
  expect(seeds.map(([name]) => name)).toEqual(mutants.map(({ name }) => name));
});

describe('a broken function is found', () => {
  test.each(seeds)('%s', finds(mutants, simulateBounded));
});
