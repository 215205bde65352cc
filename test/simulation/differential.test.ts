// @module-tag long
import { describe, expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

describe('the model of the functions', () => {
  test.each([1, 2, 3])('answers what the database answers (seed %i)', async (seed) => {
    const log = await openLog({ connections: 1 });
    try {
      const store = new ComparedStore(await SqlStore.open(log.db), new Model());
      const onBoth = await simulate(store, { seed, steps: 1_500 });
      expect(store.difference).toBeUndefined();
      expect(onBoth.found).toEqual([]);
      console.log(onBoth.steps, onBoth.events.length);
      const onModel = await simulate(new Model(), { seed, steps: 1_500 });
      expect(JSON.stringify(onModel.events)).toBe(JSON.stringify(onBoth.events));
    } finally {
      await log.drop();
    }
  });
});
