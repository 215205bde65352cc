import { LanefoldError } from '../../errors.ts';
import { closest } from '../../checks/closest.ts';
import { builtInProviders } from './providers.ts';

const vendors: [RegExp, string][] = [
  [/^(gpt|o\d|chatgpt)/i, 'openai'],
  [/^claude/i, 'anthropic'],
  [/^gemini/i, 'google'],
];

/** An error that lists the known models and suggests the closest. `id` is `requested` after resolving aliases. */
export function unknownModel(requested: string, id: string, aliases: string[], models: string[]): LanefoldError {
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
