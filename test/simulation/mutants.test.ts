// @module-tag long
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { mutants, type Mutant } from '../history/mutants/mutants.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate, type Simulated } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

/** Where mutants were found before: the name, what found it, the seed, and the step of the first finding. */
const known = readFileSync(`${import.meta.dirname}/mutants.txt`, 'utf8')
  .trim()
  .split('\n');
/** Two steps of a frozen worker must share a statement after it has lost both runs: no seed tried has that. */
const notFound = new Set(['steps that share a statement do not compare the fence']);
/** Seeds that see much: workers lose their runs in all of them. */
const seeds = [238, 145, 90];
const steps = 1_600;
/** Some checks need what comes after the first wrong answer. */
const more = 200;

/** A history under a broken function, or a broken step of the runtime. */
async function broken(mutant: Mutant, seed: number): Promise<Simulated> {
  if (mutant.runtime) return simulate(new Model(), { seed, steps, broken: mutant.runtime });
  const log = await openLog({ connections: 1 });
  try {
    await change(log, mutant);
    return await simulate(new ComparedStore(await SqlStore.open(log.db), new Model()), { seed, steps, more });
  } finally {
    await log.drop();
  }
}

/** What finds a mutant: in the seed in which it was found before, or in one of the others. */
async function find(mutant: Mutant): Promise<string[]> {
  const before = known.find((line) => line.startsWith(`${mutant.name} | `))?.split(' | ')[2];
  for (const seed of before ? [Number(before), ...seeds] : seeds) {
    const { found } = await broken(mutant, seed);
    if (found.length > 0) return [...new Set(found.map(({ check }) => check))];
  }
  return [];
}

test.each(mutants.filter(({ name }) => !notFound.has(name)))('the simulation finds that $name', async (mutant) => {
  expect(await find(mutant)).not.toEqual([]);
});
