import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelSettings } from './settings.ts';

/** Settings of model calls under the AI SDK's names, as agents and callers write them. */
export type CallSettings = Pick<
  LanguageModelV4CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'seed'
  | 'stopSequences'
  | 'reasoning'
  | 'providerOptions'
> & { headers?: Record<string, string> };

/** The stored form: what leaves a process is snake_case. */
export const fromCallSettings = (settings: CallSettings): ModelSettings =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  ) as ModelSettings;
