import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { camelKeys } from '../../../base/common/case.ts';

/**
 * The settings of a model call in their stored form. A model ignores those it does not support. `provider_options` is
 * keyed by provider (`{openai: {...}}`) and passed on unchanged.
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

/** The settings as options of a call. A setting that is null is left out, like an absent one. */
export const toCallOptions = (settings: ModelSettings = {}): Partial<LanguageModelV4CallOptions> =>
  camelKeys(Object.fromEntries(Object.entries(settings).filter(([, value]) => value != null)));
