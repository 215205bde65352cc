import type { Counting } from '../../models/counting/counting.ts';
import type { Run } from '../../store/run/run.ts';
import { spentOf, type SpentByModel } from '../../store/run/spent.ts';

/** The cost of model calls at the list prices of the providers. */
export interface RunCost {
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models whose price is unknown; `cost` excludes them. */
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

/** Adds to a run the cost of its model calls so far. */
export const priced = async <R extends Run>(counting: Counting, run: R): Promise<R & RunCost> => ({
  ...run,
  ...(await costOf(counting, spentOf(run))),
});
