import { assertFewCalls, providerFetch, marked } from './provider-fetch.ts';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { LanefoldError } from '../../base/errors.ts';
import { parseScriptedId } from './scripted/script.ts';

/** A counter of OpenAI's `usage` that is not a JSON number: a string, or a NaN of a server in Python. */
const unreadable = /("(?:prompt|completion|total)_tokens"\s*:\s*)("[^"]{0,40}"|NaN|-?Infinity)/g;

/**
 * Text of a response with counters that the provider's package can read: it rejects the whole answer for one it cannot.
 * Inside a text of the model, the quotes would be escaped.
 */
export const readable = (text: string): string => {
  assertFewCalls(text);
  return text.includes('_tokens"')
    ? text.replace(unreadable, (_, key: string, value: string) => key + (/^"(\d{1,12})"$/.exec(value)?.[1] ?? 'null'))
    : text;
};

/** A `fetch` whose answers have readable counters, for servers that only resemble OpenAI's. */
const fetchReadable = providerFetch({ lines: readable });

const safe = (text: string): string => (calls.test(text) ? marked(text) : text);

/** Marks, line by line, what JavaScript cannot hold exactly. Only calls contain values that a model wrote. */
export const safeLines = (lines: string): string => lines.split('\n').map(safe).join('\n');

/** As Google and Anthropic name them. */
const calls = /"functionCall"|"tool_use"/;

/**
 * `fetch` for a provider whose answers have the arguments of a call as JSON values, see `marked`.
 */
const exactFetch = providerFetch({ lines: safeLines, json: safe });

export type Env = Record<string, string | undefined>;

export interface BuiltInProvider {
  /** Throws if configuration is missing. Loads nothing. */
  check(modelId: string, env: Env): void;
  load(modelId: string, env: Env): Promise<LanguageModelV4>;
  /** `provider` of the loaded model, as far as its dialect depends on it. */
  provider(env: Env): string;
}

/**
 * The providers that work without any code from the user, by prefix. Keys and base URLs come only from `env`: every
 * value is passed explicitly, so the packages never read process.env themselves.
 */
export const builtInProviders: Record<ProviderName, BuiltInProvider> = {
  openai: {
    provider: (env) => (env.OPENAI_BASE_URL ? 'openai.chat' : 'openai.responses'),
    check(modelId, env) {
      if (!env.OPENAI_BASE_URL) requireKey('openai', modelId, env, 'OPENAI_API_KEY');
    },
    async load(modelId, env) {
      // Compatible servers implement chat completions, but rarely the Responses API.
      if (env.OPENAI_BASE_URL) return loadCompatible('openai', modelId, env);
      const { createOpenAI } = await import('@ai-sdk/openai');
      const baseURL = 'https://api.openai.com/v1';
      return createOpenAI({ apiKey: env.OPENAI_API_KEY, baseURL, fetch: providerFetch() })(modelId);
    },
  },
  anthropic: {
    provider: () => 'anthropic',
    check: (modelId, env) => requireKey('anthropic', modelId, env, 'ANTHROPIC_API_KEY'),
    async load(modelId, env) {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const baseURL = withVersion(env.ANTHROPIC_BASE_URL || 'https://api.anthropic.com');
      return createAnthropic({ apiKey: env.ANTHROPIC_API_KEY, baseURL, fetch: exactFetch })(modelId);
    },
  },
  google: {
    provider: () => 'google',
    check(modelId, env) {
      // the id becomes part of the path, where a slash would address another resource
      if (!/^((tunedM|m)odels\/)?[^/:]+$/.test(modelId)) throw invalidName(`google:${modelId}`);
      requireKey('google', modelId, env, 'GOOGLE_GENERATIVE_AI_API_KEY');
    },
    async load(modelId, env) {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      const baseURL = env.GOOGLE_GENERATIVE_AI_BASE_URL || 'https://generativelanguage.googleapis.com/v1beta';
      return createGoogleGenerativeAI({ apiKey: env.GOOGLE_GENERATIVE_AI_API_KEY, baseURL, fetch: exactFetch })(
        modelId,
      );
    },
  },
  'openai-compatible': {
    provider: () => 'openai-compatible',
    check: (modelId, env) => requireKey('openai-compatible', modelId, env, 'OPENAI_BASE_URL'),
    load: (modelId, env) => loadCompatible('openai-compatible', modelId, env),
  },
  scripted: {
    provider: () => 'scripted',
    check: (modelId) => void parseScriptedId(modelId),
    load: async (modelId) => (await import('./scripted/model.ts')).createScriptedModel(modelId),
  },
};

async function loadCompatible(name: string, modelId: string, env: Env): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name,
    baseURL: env.OPENAI_BASE_URL as string,
    ...(env.OPENAI_API_KEY ? { apiKey: env.OPENAI_API_KEY } : {}),
    includeUsage: true,
    fetch: fetchReadable,
    // If this were off, a schema would be dropped with only a warning.
    supportsStructuredOutputs: true,
  });
  return provider(modelId);
}

// Other Anthropic clients accept a bare origin in ANTHROPIC_BASE_URL and add the version; this package does not.
const withVersion = (url: string): string =>
  URL.canParse(url) && new URL(url).pathname === '/' ? new URL('/v1', url).href : url;

function requireKey(provider: string, modelId: string, env: Env, variable: string): void {
  if (env[variable]) return;
  throw new LanefoldError(
    'missing_provider_key',
    `${provider}:${modelId} needs the environment variable ${variable}.`,
    {
      hint: `Set ${variable}, or use scripted:demo to try it offline without a key.`,
      details: { provider, variable },
    },
  );
}

/** The providers that work without any code from the user. */
export type ProviderName = 'openai' | 'anthropic' | 'google' | 'openai-compatible' | 'scripted';

/** `provider:model`, an alias, or a model of your own in `createLanefold({ models })`. */
export type ModelName = `${ProviderName}:${string}` | (string & Record<never, never>);

const validName = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}$/;

/** Providers put the name into the path of a request, so it must not be able to lead anywhere else. */
export function assertModelName(id: string, name: string): void {
  if (validName.test(name) && !/\.\.|\/\/|\/$/.test(name)) return;
  throw invalidName(id);
}

const invalidName = (id: string): LanefoldError =>
  new LanefoldError('unknown_model', `Model ${JSON.stringify(id.slice(0, 200))} does not have a valid name.`, {
    hint: 'Write provider:model, where the model has up to 200 characters of [A-Za-z0-9._:@/+-], without .. and //.',
  });
