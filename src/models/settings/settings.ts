import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';

/**
 * What an agent may set on its model calls, as it is stored. Everything is optional; a model ignores what it does not
 * support. `provider_options` is keyed by provider (`{openai: {...}}`) and passed through.
 */
export interface ModelSettings {
  max_output_tokens?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  seed?: number;
  stop_sequences?: string[];
  reasoning?: LanguageModelV4CallOptions['reasoning'];
  response_format?: LanguageModelV4CallOptions['responseFormat'];
  provider_options?: SharedV4ProviderOptions;
  headers?: Record<string, string>;
}

const names = {
  max_output_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
  stop_sequences: 'stopSequences',
  reasoning: 'reasoning',
  response_format: 'responseFormat',
  provider_options: 'providerOptions',
  headers: 'headers',
} as const satisfies Record<keyof ModelSettings, keyof LanguageModelV4CallOptions>;

const pairs = Object.entries(names) as [keyof ModelSettings, keyof LanguageModelV4CallOptions][];

/** Settings as call options; `null` and absent are the same. */
export function toCallOptions(settings: ModelSettings | undefined): Partial<LanguageModelV4CallOptions> {
  const options: Record<string, unknown> = {};
  if (settings) for (const [from, to] of pairs) if (settings[from] != null) options[to] = settings[from];
  return options;
}
