/** Tokens of some calls of one model. The input includes what was read from a cache or written to it. */
export interface SpentTokens {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  writtenTokens: number;
}

/**
 * What calls of a model cost by the list price of its provider at that time, in US dollars; undefined where nobody knows.
 * Some prices rise with the length of a request: it is that of all calls together, shared out evenly.
 *
 * @param model `provider:model`, no alias
 */
export async function priceOf(model: string, spent: SpentTokens, at: Date): Promise<number | undefined> {
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
  const price = calcPrice(usage, model.slice(colon + 1), { providerId: model.slice(0, colon), timestamp: at });
  return price ? price.total_price * calls : undefined;
}
