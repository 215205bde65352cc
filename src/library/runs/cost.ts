import type { Counting } from '../../models/counting/counting.ts';
import type { Run } from '../../store/run/run.ts';
import { spentOf, type SpentByModel } from '../../store/run/spent.ts';

/** What model calls cost by the list prices of the providers. */
export interface RunCost {
  /** In US dollars; null where nothing was spent on a model whose price is known. */
  cost: number | null;
  /** Tokens of models whose price nobody knows; `cost` is without them. */
  unpricedTokens: number;
}

export async function costOf(counting: Counting, spent: readonly SpentByModel[]): Promise<RunCost> {
  const total: RunCost = { cost: null, unpricedTokens: 0 };
  for (const tokens of spent) {
    const price = await counting.priceOf(tokens.model, tokens, tokens.at);
    if (price === undefined) total.unpricedTokens += tokens.inputTokens + tokens.outputTokens;
    else total.cost = (total.cost ?? 0) + price;
  }
  return total;
}

/** The run with what its model calls cost so far. */
export const priced = async <R extends Run>(counting: Counting, run: R): Promise<R & RunCost> => ({
  ...run,
  ...(await costOf(counting, spentOf(run))),
});
