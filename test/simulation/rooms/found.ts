import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Mutant } from '../../history/mutants/mutants.ts';
import { onDatabase } from './on-database.ts';
import { simulateRooms } from './simulate-rooms.ts';

/** Any change of the product gives every seed another history, so others are tried too. */
const others = [1, 2, 3, 4];

/** The mutants that a file names, a line each, with a seed with which each was found. */
export const seedsIn = (file: string): (readonly [name: string, seed: number])[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [name, seed] = line.split(' | ');
      return [name!, Number(seed)];
    });

/** A test that the simulation finds a mutant with its seed, or with another one. */
export const finds =
  (mutants: readonly Mutant[], simulate = simulateRooms) =>
  async (name: string, seed: number): Promise<void> => {
    const mutant = mutants.find((one) => one.name === name)!;
    for (const next of [seed, ...others]) {
      const { found } = await onDatabase({ seed: next, steps: 500 }, mutant, simulate);
      if (found.some(({ check }) => check === mutant.caughtBy)) return;
      console.log(`${name}: the seed ${next} does not find it (${found.map(({ check }) => check).join(', ')})`);
    }
    expect.fail('no seed finds it');
  };
