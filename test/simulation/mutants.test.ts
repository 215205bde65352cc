// @module-tag long
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { mutants, type Mutant } from '../history/mutants/mutants.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate, type Simulated } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

const file = `${import.meta.dirname}/mutants.txt`;
const known = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
/** Seeds that see much: workers lose their runs in all of them. */
const seeds = [238, 45, 31, 57];
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

/** A line of the file: the mutant, what found it, the seed, and the step of the first finding. */
async function find(mutant: Mutant): Promise<string> {
  const before = known.find((line) => line.startsWith(`${mutant.name} | `))?.split(' | ')[2];
  for (const seed of before ? [Number(before), ...seeds] : seeds) {
    const { found } = await broken(mutant, seed);
    if (found.length === 0) continue;
    const by = [...new Set(found.map(({ check }) => check))].join(', ');
    return `${mutant.name} | ${by} | ${seed} | ${found[0]!.step}`;
  }
  return `${mutant.name} | nothing`;
}

describe('the simulation', () => {
  const lines: string[] = [];

  test.each(mutants)('finds that $name', async (mutant) => {
    const line = await find(mutant);
    lines.push(line);
    console.log(line);
    expect(line).not.toContain('| nothing');
  });

  test('finds each of them where it did before', async () => {
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file);
  });
});
