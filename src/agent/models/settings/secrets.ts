import { createKeyRedactor, mark } from '../../../base/redaction/sensitive-keys.ts';
import { ModelError } from '../errors/model-error.ts';
import type { ModelSettings } from './settings.ts';

/** Headers that turn on features of a provider: they decide how a model answers, and grant no access. */
const shownHeaders = new Set(['anthropic-beta', 'anthropic-version', 'openai-beta']);

/** Hides the values of headers, whatever their names: a gateway may take a secret under any name. */
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
