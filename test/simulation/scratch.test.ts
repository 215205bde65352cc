import { test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { mutants } from '../history/mutants/mutants.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { simulate } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

const [from, to] = process.env.SEEDS!.split('-').map(Number) as [number, number];
const steps = Number(process.env.STEPS ?? 1500);
test('scratch', async () => {
  for (const mutant of process.env.MUTANTS ? mutants : [undefined]) {
    for (let seed = from; seed <= to; seed++) {
      const started = performance.now();
      let r;
      if (mutant?.runtime) r = await simulate(new Model(), { seed, steps, broken: mutant.runtime });
      else {
        const log = await openLog({ connections: 1 });
        if (mutant) await change(log, mutant);
        r = await simulate(new ComparedStore(await SqlStore.open(log.db), new Model()), { seed, steps, more: mutant ? 300 : 0 });
        await log.drop();
      }
      const by = new Map<string, number>();
      for (const { check, step } of r.found) if (!by.has(check)) by.set(check, step);
      console.log(mutant?.name ?? '', seed, r.steps, r.events.length, Math.round(performance.now() - started), JSON.stringify([...by]), mutant ? '' : r.found[0]?.what.slice(0, 5000) ?? '');
      if (r.found.length) break;
    }
  }
});
