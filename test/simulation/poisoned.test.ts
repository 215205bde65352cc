// @module-tag long
import { describe, expect, test } from 'vitest';
import { Model } from './model/model.ts';
import { Workers } from './model/workers.ts';
import type { Body, Run } from './model/state.ts';
import { harmful } from './processes/agents.ts';
import { simulate } from './simulate.ts';
import type { Statement } from './store.ts';

/** Each has runs that kill or block their workers, beside crashes, evictions and outages. */
const seeds = [6, 3, 20, 40];
const steps = 3_000;

const runsOf = (model: Model): Run[] => [...model.threads.values()].flatMap(({ runs }) => runs);
const isPoisoned = ({ termination_reason: reason }: Run): boolean => reason === 'poisoned';

/** The runs that were asked to harm. */
const harming = (model: Model): Set<string> =>
  new Set(
    [...model.threads.values()].flatMap(({ entries }) =>
      entries
        .filter(({ payload }) => String(payload['content']).startsWith(`${harmful} `))
        .map(({ run_id: id }) => id!),
    ),
  );

const name = 'runs that kill their workers end, and no other ends for it (seed %i)';
async function endAlone(seed: number): Promise<void> {
  const model = new Model();
  const { found } = await simulate(model, { seed, steps });
  expect(found).toEqual([]);
  const poisoned = runsOf(model).filter(isPoisoned);
  expect(poisoned.length).toBeGreaterThan(0);
  const harms = harming(model);
  expect(poisoned.filter(({ id }) => !harms.has(id))).toEqual([]);
}

test.each(seeds.slice(0, 1))(name, endAlone);
test.each(seeds.slice(1))(name, { tags: 'slow' }, endAlone);

/** Takes every claim for one of a worker without other runs. */
class CountsAll extends Model {
  override execute(at: number, statement: Statement): Body[] {
    if (statement.name !== 'attempts') return super.execute(at, statement);
    const calls = JSON.parse(statement.values[0] as string) as Body[];
    for (const { function: name, args } of calls) if (name === 'claim_run') args[2].alone = true;
    return super.execute(at, { ...statement, values: [JSON.stringify(calls)] });
  }
}

class KnowsNoCause extends Workers {
  override lossCause = (): null => null;
}
class ExcusesAll extends Workers {
  override lossCause = (): string => 'workers_lost';
}

/** Finds no cause outside of a run. */
class Unjust extends Model {
  override readonly workers = new KnowsNoCause();
}

/** Finds one for each loss, and forgets how often the run was claimed. */
class Lenient extends Model {
  override readonly workers = new ExcusesAll();

  override execute(at: number, statement: Statement): Body[] {
    for (const run of runsOf(this)) run.claims = Math.min(run.claims, 10);
    return super.execute(at, statement);
  }
}

describe('is reported', { tags: 'slow' }, () => {
  test.each([
    { what: 'a claim beside other runs counts', Broken: CountsAll, check: 'now:innocent-runs' },
    { what: 'a worker that was lost with others counts', Broken: Unjust, check: 'now:innocent-runs' },
    { what: 'a run that kills its workers never ends', Broken: Lenient, check: 'now:every-run-ends' },
  ])('if $what', async ({ Broken, check }) => {
    // not every history needs what is missing
    for (const seed of seeds) {
      const { found } = await simulate(new Broken(), { seed, steps });
      if (found.length === 0) continue;
      expect(found[0]!.check).toBe(check);
      return;
    }
    expect.fail('no seed finds it');
  });
});
