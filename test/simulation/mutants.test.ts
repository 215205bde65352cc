// @module-tag long
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { mutants, type Mutant } from '../history/mutants/mutants.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate, type Simulated } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

/** Where each mutant was found before: its name, what found it, the seed, and the step of the first finding. */
const known = readFileSync(`${import.meta.dirname}/mutants.txt`, 'utf8')
  .trim()
  .split('\n');
/** Seeds that see much: workers lose their runs in all of them. */
const seeds = [238, 57, 110];
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

/** Where a mutant is found first, as a line of the file. */
async function find(mutant: Mutant, before: string | undefined): Promise<string> {
  for (const seed of before ? [Number(before.split(' | ')[2])] : seeds) {
    const { found } = await broken(mutant, seed);
    if (found.length === 0) continue;
    const by = [...new Set(found.map(({ check }) => check))].join(', ');
    return `${mutant.name} | ${by} | ${seed} | ${found[0]!.step}`;
  }
  return `${mutant.name} | nothing`;
}

describe('the simulation', () => {
  test.each(mutants)('finds that $name, where it did before', async (mutant) => {
    const before = known.find((line) => line.startsWith(`${mutant.name} | `));
    const line = await find(mutant, before);
    expect(line).toBe(before ?? line);
    expect(line).not.toContain('| nothing');
  });
});
