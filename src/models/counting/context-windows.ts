/**
 * Context windows that the table of `@pydantic/genai-prices` lacks, in tokens. From the model pages of Google
 * (ai.google.dev/gemini-api/docs/models), November 2026.
 */
const missing: Record<string, number> = {
  'google:gemini-2.5-pro': 1_048_576,
  'google:gemini-3-pro-preview': 1_048_576,
};

/** Providers that have no models of their own, so that the table is not loaded for them. */
const withoutTable = new Set(['scripted', 'openai-compatible']);

/** What the table said of a model: it is asked before each call, and matches the name with hundreds of patterns. */
const inTable = new Map<string, number | undefined>();

/**
 * Tokens that a model takes, question and answer together; undefined where nobody knows. The table comes with the package:
 * nothing is downloaded.
 *
 * @param model `provider:model`, no alias
 * @param own windows by model, or by provider for all its models; they win
 */
export async function contextWindow(
  model: string,
  own: Readonly<Record<string, number>> = {},
): Promise<number | undefined> {
  const at = model.indexOf(':');
  const provider = at < 0 ? '' : model.slice(0, at);
  for (const key of [model, provider]) if (Object.hasOwn(own, key)) return own[key];
  if (Object.hasOwn(missing, model)) return missing[model];
  if (provider === '' || withoutTable.has(provider)) return undefined;
  if (inTable.has(model)) return inTable.get(model);
  // loaded on demand: the table takes 60 ms, and most processes need no model
  const { calcPrice } = await import('@pydantic/genai-prices');
  const window = calcPrice({}, model.slice(at + 1), { providerId: provider })?.model.context_window;
  if (inTable.size < 1_000) inTable.set(model, window);
  return window;
}
