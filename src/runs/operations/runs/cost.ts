import type { Counting } from '../../../agent/models/counting.ts';
import type { Run } from '../../../database/store/run/run.ts';
import type { RunCost } from '../../../database/store/run/types.ts';
import type { ModelCost } from './types.ts';
import { spentOf, type SpentByModel } from '../../../database/store/run/spent.ts';

export async function costOf(counting: Counting, spent: readonly SpentByModel[]): Promise<RunCost> {
  return sumOf(await costsOf(counting, spent));
}

/** Adds to a run the cost of its model calls so far. */
export const priced = async <R extends Run>(counting: Counting, run: R): Promise<R & RunCost> => ({
  ...run,
  ...(await costOf(counting, spentOf(run))),
});

/** Adds to a run the cost of its model calls so far, in all and by model. */
export async function pricedByModel<R extends Run>(
  counting: Counting,
  run: R,
): Promise<R & RunCost & { costByModel: ModelCost[] }> {
  const costByModel = await costsOf(counting, spentOf(run));
  return { ...run, ...sumOf(costByModel), costByModel };
}

const costsOf = (counting: Counting, spent: readonly SpentByModel[]): Promise<ModelCost[]> =>
  Promise.all(
    spent.map(async ({ at, calls, ...tokens }) => {
      const found = await counting.priced(tokens.model, { ...tokens, calls }, at);
      const { cost = null, price = null, perMillion = null } = found ?? {};
      return { ...tokens, cost, price, perMillion };
    }),
  );

function sumOf(costs: readonly ModelCost[]): RunCost {
  const total: RunCost = { cost: null, unpricedTokens: 0 };
  for (const { cost, inputTokens, outputTokens } of costs) {
    if (cost === null) total.unpricedTokens += inputTokens + outputTokens;
    else total.cost = (total.cost ?? 0) + cost;
  }
  return total;
}
