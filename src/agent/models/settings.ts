import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { camelKeys, snakeKeys } from '../../base/common/case.ts';
import { z } from 'zod';
import { createKeyRedactor, mark } from '../../base/redaction/sensitive-keys.ts';
import { ModelError } from './model-error.ts';

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

/** Headers that choose the account, the host or the framing of a request. An agent may set them, a request may not. */
const reservedHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'x-goog-user-project',
  'openai-organization',
  'openai-project',
  'host',
  'forwarded',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The first header that a request may not set. */
export const reservedHeader = (headers: Record<string, string> | undefined): string | undefined =>
  Object.keys(headers ?? {}).find((name) => {
    const lower = name.toLowerCase();
    return reservedHeaders.has(lower) || /^x-forwarded-|^x-http-method|(^|-)(token|secret|password)$/.test(lower);
  });

/**
 * Provider options that some providers copy into the body of the request. These would replace the model, context or
 * tools that the run and its log record as sent.
 */
const reservedOptions = new Set([
  'model',
  'models',
  'messages',
  'input',
  'prompt',
  'system',
  'instructions',
  'contents',
  'tools',
  'functions',
  'stream',
  'streamoptions',
  'conversation',
  'previousresponseid',
]);

/** The first provider option that would change what is sent: `openai.model`. */
function reservedOption(options: Record<string, Record<string, unknown>> | undefined): string | undefined {
  for (const [provider, own] of Object.entries(options ?? {})) {
    const key = Object.keys(own).find((name) => reservedOptions.has(name.replace(/[_-]/g, '').toLowerCase()));
    if (key !== undefined) return `${provider}.${key}`;
  }
  return undefined;
}

/** Headers that turn on features of a provider: they decide how a model answers, and grant no access. */
const shownHeaders = new Set(['anthropic-beta', 'anthropic-version', 'openai-beta']);

/** Hides the values of all headers: a gateway may take a secret under any name. */
export const hideHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, shownHeaders.has(name.toLowerCase()) ? value : mark]),
  );

/** Shorter ones occur in words. */
const shortest = 6;

const redactor = createKeyRedactor();

/** The error of a model call without the secrets in the settings of the call, which providers and proxies may quote. */
export function hideSettings(error: unknown, settings: ModelSettings = {}): unknown {
  if (!(error instanceof ModelError)) return error;
  const { headers = {}, provider_options: options } = settings;
  const secrets = [...hidden(headers, hideHeaders(headers)), ...hidden(options, redactor.value(options))];
  const message = secrets
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, mark), error.message);
  return message === error.message ? error : new ModelError(message, error);
}

/** The texts of a value that its shown copy hides. */
function hidden(value: unknown, shown: unknown): string[] {
  if (value === shown) return [];
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const copy = (typeof shown === 'object' && shown !== null ? shown : {}) as Record<string, unknown>;
  return Object.entries(value).flatMap(([key, child]) => hidden(child, copy[key]));
}
