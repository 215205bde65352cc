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
