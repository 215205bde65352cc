import type { Provider } from '@pydantic/genai-prices';
import { LanefoldError } from '../../base/errors.ts';

/** Total tokens of some calls to one model. The input includes tokens read from or written to a cache. */
export interface SpentTokens {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  writtenTokens: number;
}

/** Tokens to be priced. */
export interface PricedTokens extends SpentTokens {
  /** `provider:model`, not an alias. */
  model: string;
  /** When the run was accepted. */
  at: Date;
}

/** The price of tokens in US dollars; undefined: unknown here. */
export type PriceOf = (tokens: PricedTokens) => number | undefined | Promise<number | undefined>;

/** @throws LanefoldError `invalid_input` for what is no price */
export async function ownPrice(
  own: PriceOf,
  ...[model, spent, at]: [model: string, spent: SpentTokens, at: Date]
): Promise<Priced | undefined> {
  const price = await own({ ...spent, model, at });
  if (price === undefined) return undefined;
  if (Number.isFinite(price) && price >= 0) return { cost: price, price: 'own' };
  throw new LanefoldError('invalid_input', `priceOf returned ${String(price)} for ${model}, which is not a price.`, {
    hint: 'Return US dollars from 0, or undefined for the list price.',
  });
}

/** US dollars per million tokens. A rate is absent where it rises with the length of a request, or does not exist. */
export interface TokenRates {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** What tokens cost, and the price that was used. */
export interface Priced {
  /** In US dollars. */
  cost: number;
  /** `own`: your `priceOf`. `list`: the list price of the provider. */
  price: 'own' | 'list';
  /** Of a list price. */
  perMillion?: TokenRates;
}

/**
 * The cost of calls to a model, by its provider's list price at that time; undefined if unknown. Some prices rise with the
 * length of a request: this assumes that all calls have the same length.
 *
 * @param model `provider:model`, not an alias
 */
export async function listPrice(model: string, spent: SpentTokens, at: Date): Promise<Priced | undefined> {
  const colon = model.indexOf(':');
  if (colon < 0) return undefined;
  const calls = Math.max(1, spent.calls);
  const input = spent.inputTokens / calls;
  const cached = Math.min(input, spent.cachedTokens / calls);
  const usage = {
    input_tokens: input,
    output_tokens: spent.outputTokens / calls,
    cache_read_tokens: cached,
    cache_write_tokens: Math.min(input - cached, spent.writtenTokens / calls),
  };
  // loaded on demand: the table takes 60 ms, and most processes need no price
  const { calcPrice } = await import('@pydantic/genai-prices');
  const known = listed.get(model);
  if (known === null) return undefined;
  const provider = known ? { provider: known } : { providerId: model.slice(0, colon) };
  const price = calcPrice(usage, model.slice(colon + 1), { ...provider, timestamp: at });
  if (!known && listed.size < 1_000) listed.set(model, price && { ...price.provider, models: [price.model] });
  if (!price) return undefined;
  return { cost: price.total_price * calls, price: 'list', perMillion: ratesOf(price.model_price) };
}

/**
 * The provider of a model with this model alone; null: no price. The table matches a name against hundreds of patterns, which
 * takes a millisecond, and a chart over time asks for hundreds of prices.
 */
const listed = new Map<string, Provider | null>();

/** Rates with tiers are objects. */
function ratesOf(price: Record<string, unknown>): TokenRates {
  const rate = (key: string, name: keyof TokenRates): TokenRates => {
    const value = price[key];
    return typeof value === 'number' ? { [name]: value } : {};
  };
  return {
    ...rate('input_mtok', 'input'),
    ...rate('output_mtok', 'output'),
    ...rate('cache_read_mtok', 'cacheRead'),
    ...rate('cache_write_mtok', 'cacheWrite'),
  };
}

/**
 * Context windows that the table of `@pydantic/genai-prices` lacks, in tokens. From the model pages of Google
 * (ai.google.dev/gemini-api/docs/models), November 2026.
 */
const missing: Record<string, number> = {
  'google:gemini-2.5-pro': 1_048_576,
  'google:gemini-3-pro-preview': 1_048_576,
};

/** The price table lists no models for these providers, so it is not loaded for them. */
const withoutTable = new Set(['scripted', 'openai-compatible']);

/** Caches the table's answers: it is asked before each call, and matches the name against hundreds of patterns. */
const inTable = new Map<string, number | undefined>();

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf(':')));

/** The window that an application gives for a model, or for all models of its provider. */
export function configuredWindow(model: string, own: Readonly<Record<string, number>>): number | undefined {
  for (const key of [model, providerOf(model)]) if (Object.hasOwn(own, key)) return own[key];
  return undefined;
}

/**
 * The context window of a model in tokens, input and output together; undefined if unknown. The table ships with its
 * package: nothing is downloaded.
 *
 * @param model `provider:model`, not an alias
 * @param own windows by model, or by provider for all its models; they take precedence
 */
export async function contextWindow(
  model: string,
  own: Readonly<Record<string, number>> = {},
): Promise<number | undefined> {
  const configured = configuredWindow(model, own);
  if (configured !== undefined) return configured;
  const at = model.indexOf(':');
  const provider = providerOf(model);
  if (Object.hasOwn(missing, model)) return missing[model];
  if (provider === '' || withoutTable.has(provider)) return undefined;
  if (inTable.has(model)) return inTable.get(model);
  // loaded on demand: the table takes 60 ms, and most processes need no model
  const { calcPrice } = await import('@pydantic/genai-prices');
  const window = calcPrice({}, model.slice(at + 1), { providerId: provider })?.model.context_window;
  if (inTable.size < 1_000) inTable.set(model, window);
  return window;
}
