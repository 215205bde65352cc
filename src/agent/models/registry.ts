import type { LanguageModelV4 } from '@ai-sdk/provider';
import { LanefoldError } from '../../base/errors.ts';
import { dialectOf, type Dialect } from './acceptable-prompt.ts';
import { assertModelName, builtInProviders, type BuiltInProvider, type Env } from './providers.ts';
import { closest } from '../../base/checks/unknown-keys.ts';

/** A model, or a function that creates one from the id after the prefix (`replay:12` → `replay("12")`). */
export type ModelSource = LanguageModelV4 | ((modelId: string) => LanguageModelV4);

export interface ModelRegistry {
  /** The model of an id. Loads the provider on first use. Rejects with `unknown_model` or `missing_provider_key`. */
  resolve(id: string): Promise<LanguageModelV4>;
  /** Throws the errors that `resolve` would, without loading a provider or calling a function of `models`. */
  check(id: string): void;
  /** What the provider of an id accepts in a history. Needs no key. Rejects with `unknown_model`. */
  dialect(id: string): Promise<Dialect>;
  /** The id that an alias stands for; other ids as they are. */
  target(id: string): string;
  /** Whether an HTTP caller may name it: scripts only if `scriptedModels` allows them. */
  isRequestable(id: string): boolean;
}

export interface ModelRegistryOptions {
  /** Source of keys and base URLs; default process.env. */
  env?: Env;
  /** Short names for model ids or other aliases: `{fast: 'openai:gpt-5-mini'}`. Aliases win over everything else. */
  aliases?: Record<string, string>;
  /** Custom models by full id (`my-model`, `acme:large`) or by provider prefix (`acme`). */
  models?: Record<string, ModelSource>;
  /** HTTP callers may name `scripted:` models; default false. */
  scriptedModels?: boolean;
}

type Target = {
  id: string;
  /** Known without loading, for the providers that need no code from the user. */
  known?: Parameters<typeof dialectOf>[0];
  load: () => LanguageModelV4 | Promise<LanguageModelV4>;
  check?: () => void;
};

// Inline scripts are ids too, so the number of ids is unbounded.
const maxCached = 1000;

/** Resolves `provider:model` ids to language models, and caches them. */
export function createModelRegistry(options: ModelRegistryOptions = {}): ModelRegistry {
  const { env = process.env, aliases = {}, models = {}, scriptedModels = false } = options;
  const cache = new Map<string, Promise<LanguageModelV4>>();
  const dialectsById = new Map<string, Dialect>();

  const find = (requested: string): Target => {
    const id = followAliases(requested, aliases);
    const [prefix, modelId] = splitId(id);
    const exact = own(models, id);
    const source = exact ?? own(models, prefix);
    if (source && !exact) assertModelName(requested, modelId);
    if (source) return { id, load: () => loadGiven(id, source, exact ? id : modelId) };
    const provider = own<BuiltInProvider>(builtInProviders, prefix);
    if (!provider || modelId === '') throw unknownModel(requested, id, Object.keys(aliases), Object.keys(models));
    // a script is not a model name, and never reaches a provider's URL
    if (prefix !== 'scripted') assertModelName(requested, modelId);
    const known = { provider: provider.provider(env), modelId };
    return { id, known, load: () => provider.load(modelId, env), check: () => provider.check(modelId, env) };
  };

  const check = (id: string) => find(id).check?.();

  const resolve = async (id: string): Promise<LanguageModelV4> => {
    const cached = cache.get(id);
    if (cached) return cached;
    const target = find(id);
    target.check?.();
    const model = Promise.resolve(target.load());
    if (cache.size >= maxCached) cache.clear();
    cache.set(id, model);
    model.catch(() => cache.delete(id));
    return model;
  };

  return {
    check,
    target: (id) => followAliases(id, aliases),
    isRequestable(id) {
      // the operator chose what aliases and custom models resolve to
      if (scriptedModels || own(aliases, id) || own(models, id)) return true;
      return splitId(id)[0] !== 'scripted';
    },
    resolve,
    async dialect(id) {
      const known = dialectsById.get(id);
      if (known) return known;
      const dialect = dialectOf(find(id).known ?? (await resolve(id)));
      if (dialectsById.size >= maxCached) dialectsById.clear();
      dialectsById.set(id, dialect);
      return dialect;
    },
  };
}

const own = <T>(map: Record<string, T>, key: string): T | undefined => (Object.hasOwn(map, key) ? map[key] : undefined);

/** Splits at the first colon, because model names may contain colons. Without a colon the model name is empty. */
function splitId(id: string): [string, string] {
  const at = id.indexOf(':');
  return at < 0 ? [id, ''] : [id.slice(0, at), id.slice(at + 1)];
}

function followAliases(requested: string, aliases: Record<string, string>): string {
  const seen = [requested];
  let id = requested;
  for (let next = own(aliases, id); next !== undefined; next = own(aliases, id)) {
    if (seen.includes(next)) {
      const cycle = [...seen, next].join(' → ');
      throw new LanefoldError('unknown_model', `The model alias ${JSON.stringify(requested)} is circular: ${cycle}.`, {
        hint: 'Point one of these aliases at a model such as openai:gpt-5-mini.',
      });
    }
    seen.push(next);
    id = next;
  }
  return id;
}

function loadGiven(id: string, source: ModelSource, modelId: string): LanguageModelV4 {
  const model = typeof source === 'function' ? source(modelId) : source;
  if (model?.specificationVersion === 'v4') return model;
  const version = JSON.stringify((model as { specificationVersion?: unknown } | undefined)?.specificationVersion);
  throw new LanefoldError(
    'unknown_model',
    `The model for ${id} must implement specification v4 of the AI SDK; it implements ${version}.`,
    {
      hint: 'Use a provider package for AI SDK 7.',
    },
  );
}

const vendors: [RegExp, string][] = [
  [/^(gpt|o\d|chatgpt)/i, 'openai'],
  [/^claude/i, 'anthropic'],
  [/^gemini/i, 'google'],
];

/** An error that lists the known models and suggests the closest. `id` is `requested` after resolving aliases. */
function unknownModel(requested: string, id: string, aliases: string[], models: string[]): LanefoldError {
  const providers = Object.keys(builtInProviders);
  const names = [...aliases, ...models];
  const suggestion = suggest(id, names, [...models, ...providers]);
  const known = `Providers: ${providers.map((p) => `${p}:`).join(' ')}.${names.length > 0 ? ` Names: ${names.join(', ')}.` : ''}`;
  return new LanefoldError('unknown_model', `Model ${JSON.stringify(requested)} does not exist. ${known}`, {
    hint: suggestion
      ? `Did you mean ${suggestion}?`
      : 'Write provider:model, such as openai:gpt-5-mini or scripted:demo.',
    details: { id: requested, providers, names, ...(suggestion ? { suggestion } : {}) },
  });
}

function suggest(id: string, names: string[], prefixes: string[]): string | undefined {
  const at = id.indexOf(':');
  if (at < 0) {
    const near = closest(id, names);
    const vendor = vendors.find(([pattern]) => pattern.test(id))?.[1];
    return near ?? (vendor ? `${vendor}:${id}` : undefined);
  }
  const prefix = closest(id.slice(0, at), prefixes);
  return prefix && at + 1 < id.length ? `${prefix}:${id.slice(at + 1)}` : closest(id, names);
}
