import { describe, expect, test } from 'vitest';
import type { Runtime } from '../history/mutants/runtime.ts';
import { Model } from './model/model.ts';
import kept from './seeds.json' with { type: 'json' };
import { show } from './show.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

describe('a simulation', () => {
  test.each([1, 2, 3, 4])('contradicts no promise (seed %i)', async (seed) => {
    const { found, happened, events } = await simulate(new Model(), { seed, steps: 1_500 });
    expect(found).toEqual([]);
    expect(happened.size).toBeGreaterThan(100);
    expect(events.length).toBeGreaterThan(500);
  });

  test.each(kept)('contradicts none where one was contradicted before (seed $seed): $why', async ({ seed, steps }) => {
    const { found } = await simulate(new Model(), { seed, steps });
    expect(found).toEqual([]);
  });

  test('depends on its seed alone', async () => {
    const run = (seed: number) => simulate(new Model(), { seed, steps: 1_000 });
    const [one, again, other] = [await run(7), await run(7), await run(8)];
    expect(JSON.stringify(again.events)).toBe(JSON.stringify(one.events));
    expect([...again.happened]).toEqual([...one.happened]);
    expect(JSON.stringify(other.events)).not.toBe(JSON.stringify(one.events));
  });

  test('has every kind of fault', async () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 8; seed++) {
      const { happened } = await simulate(new Model(), { seed, steps: 1_000 });
      for (const [name, kind] of happened) if (!/^(ann|bob|cem):/.test(name)) kinds.add(kind);
    }
    expect([...kinds].sort()).toMatchInlineSnapshot();
  });
});

/** A worker runs a call again that it finds started, although it must not. */
const runsAgain: Partial<Runtime> = { afterCrash: async () => undefined };

test('a failing history is shrunk to what it needs, and shown', async () => {
  const simulation = { seed: 90, steps: 3_000, broken: runsAgain };
  const failing = await simulate(new Model(), simulation);
  expect(failing.found[0]?.check).toBe('never-twice');
  const shrunk = await shrink(async () => new Model(), simulation, failing);
  expect(shrunk.found[0]?.check).toBe('never-twice');
  // the request, and what kept its worker from storing the outcome
  expect(shrunk.only.length).toBeLessThan(6);
  expect(show(shrunk)).toMatchInlineSnapshot();
  const again = await simulate(new Model(), { ...simulation, only: new Set(shrunk.only) });
  expect(again.found.map(({ check }) => check)).toContain('never-twice');
  const mended = await simulate(new Model(), { seed: 90, steps: 3_000, only: new Set(shrunk.only) });
  expect(mended.found).toEqual([]);
});
