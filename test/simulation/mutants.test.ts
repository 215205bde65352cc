// @module-tag long
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { mutants, type Mutant } from '../history/mutants/mutants.ts';
import type { Runtime } from '../history/mutants/runtime.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';
import type { Simulated } from './world/play.ts';
import { SqlStore } from './sql-store.ts';

/** A seed with which each mutant was found. */
const places = readFileSync(`${import.meta.dirname}/mutants.txt`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [name, seed] = line.split(' | ');
    return { mutant: mutants.find((one) => one.name === name)!, seed: Number(seed) };
  });

const steps = 1_600;
/** Some checks need what comes after the first wrong answer. */
const more = 200;

/** A history under a broken function, or a broken step of the runtime. */
async function broken(mutant: Mutant, seed: number): Promise<Simulated> {
  if (mutant.runtime) return brokenRuntime(mutant.runtime, seed);
  const log = await openLog({ connections: 1 });
  try {
    await change(log, mutant);
    return await simulate(new ComparedStore(await SqlStore.open(log.db), new Model()), { seed, steps, more });
  } finally {
    await log.drop();
  }
}

/** With modules of its own: those that other files have loaded in this process keep what they imported. */
async function brokenRuntime({ afterCrash, take }: Partial<Runtime>, seed: number): Promise<Simulated> {
  const replaced = '../../src/worker/run/after-crash.ts';
  vi.resetModules();
  if (afterCrash) vi.doMock(replaced, async (load) => ({ ...(await load<object>()), afterCrash }));
  try {
    const [{ simulate }, { Model }] = await Promise.all([import('./simulate.ts'), import('./model/model.ts')]);
    return await simulate(new Model(), { seed, steps, take });
  } finally {
    vi.doUnmock(replaced);
    vi.resetModules();
  }
}

/** No worker sends a second outcome of a call: it drops what an attempt returns that it has given up. */
const unreachable = ['a later outcome of a tool replaces the first'];

test('the list has each mutant once', () => {
  const listed = [...places.map(({ mutant }) => mutant.name), ...unreachable];
  expect(listed.toSorted()).toEqual(mutants.map(({ name }) => name).toSorted());
});

/** Any change of the runtime gives every seed another history, so others are tried too. */
const most = 12;

const title = 'the simulation finds that $mutant.name';
test.each(places.filter((_, n) => n % 16 === 0))(title, isFound);
test.each(places.filter((_, n) => n % 16 !== 0))(title, { tags: 'long' }, isFound);

async function isFound({ mutant, seed }: (typeof places)[number]): Promise<void> {
  const seeds = [seed, ...Array.from({ length: most }, (_, n) => n + 1).filter((other) => other !== seed)];
  for (const next of seeds) {
    const { found } = await broken(mutant, next);
    if (found.length === 0) continue;
    if (next === seed) return;
    console.log(`${mutant.name} is found with the seed ${next}, no longer with ${seed}`);
    const intact = { ...mutant, sql: {}, withoutIndexes: [], ...(mutant.runtime && { runtime: {} }) };
    expect((await broken(intact, next)).found).toEqual([]);
    return;
  }
  expect.fail('no seed finds it');
}
