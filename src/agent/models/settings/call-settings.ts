import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import { reservedOption } from './reserved.ts';
import type { ModelSettings } from './settings.ts';

/** Settings of model calls under the AI SDK's names, as agents and requests give them. */
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

/** The stored form, in snake_case. */
export const fromCallSettings = (settings: CallSettings): ModelSettings =>
  snakeKeys(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))) as ModelSettings;

/** Back from the stored form to the AI SDK's names. */
export const toCallSettings = (settings: ModelSettings): CallSettings => camelKeys(settings) as CallSettings;

const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a valid header name'),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'not a valid header value'),
);

const stored = z.strictObject({
  max_output_tokens: z.int().min(1).optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.number().optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  seed: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  reasoning: z.enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  provider_options: z
    .record(z.string(), z.record(z.string(), z.any()))
    .superRefine((options, context) => {
      const option = reservedOption(options);
      if (option === undefined) return;
      context.addIssue({ code: 'custom', message: `${option} would make the request differ from the log` });
    })
    .optional(),
  headers: headers.optional(),
});

/**
 * Returns the settings in their stored form, or the first invalid one. Checks types only; a provider may still reject a
 * value.
 */
export function checkSettings(
  settings: CallSettings,
): { settings: ModelSettings; fault?: undefined } | { fault: { path: string; why: string } } {
  if (typeof settings !== 'object' || settings === null) return { fault: { path: '', why: 'not an object' } };
  const checked = stored.safeParse(fromCallSettings(settings));
  if (checked.success) return { settings: checked.data as ModelSettings };
  const [issue] = checked.error.issues;
  const path = issue!.code === 'unrecognized_keys' ? [...issue!.path, issue!.keys[0]!] : issue!.path;
  return { fault: { path: path.map(String).join('.'), why: issue!.message } };
}

/** `over` wins key by key. Provider options are replaced as a whole; headers are merged. */
export const mergeSettings = (base: ModelSettings, over: ModelSettings): ModelSettings => ({
  ...base,
  ...over,
  ...(base.headers && over.headers ? { headers: { ...base.headers, ...over.headers } } : {}),
});
