// @module-tag slow
import { describe, expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { ComparedStore, plain } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

// each has many of some faults, and compactions; the last one has runs that kill their workers
const seeds = [4, 11, 12, 26];

describe('the model of the functions', () => {
  test.each(seeds)('answers what the database answers, and writes the same (seed %i)', async (seed) => {
    const log = await openLog({ connections: 1 });
    try {
      const store = new ComparedStore(await SqlStore.open(log.db), new Model());
      const onBoth = await simulate(store, { seed, steps: 600 });
      expect(store.difference).toBeUndefined();
      expect(onBoth.found).toEqual([]);
      const onModel = await simulate(new Model(), { seed, steps: 600 });
      expect(onModel.happened).toEqual(onBoth.happened);
      expect(plain(onModel.events)).toEqual(plain(onBoth.events));
    } finally {
      await log.drop();
    }
  });
});
