import type { Counting } from '../../../agent/models/counting.ts';
import type { TokenRates } from '../../../agent/models/catalog.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { spentOf, type SpentByModel } from '../../../database/store/run/spent.ts';

/** The cost of model calls, at your own prices or the list prices of the providers. */
export interface RunCost {
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models whose price is unknown; `cost` excludes them. */
  unpricedTokens: number;
}

/** What a run has spent on one model, as the provider reports it, and the price that was used. */
export interface ModelCost {
  model: string;
  /** All tokens of input, those of the cache included. */
  inputTokens: number;
  outputTokens: number;
  /** Read from the provider's cache. */
  cachedTokens: number;
  /** Written to it. */
  writtenTokens: number;
  /** In US dollars; null if the price is unknown. */
  cost: number | null;
  /** `own`: the `priceOf` of this process. `list`: the list price of the provider when the run was accepted. */
  price: 'own' | 'list' | null;
  /** The list price, in US dollars per million tokens, without rates that depend on the length of a request. */
  perMillion: TokenRates | null;
}

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
