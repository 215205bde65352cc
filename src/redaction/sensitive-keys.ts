/*
 * Redaction by key: removes the values of sensitive keys from data that describes a run (traces, jobs, logs). For error
 * text, where an API key may appear without a name, see error-text.ts.
 */

/** Replaces a redacted value. */
const mark = '[REDACTED]';

/** The keys redacted by default. */
export const defaultRedactKeys: readonly string[] = [
  'api_key',
  'apikey',
  'password',
  'secret',
  'token',
  'auth_token',
  'authtoken',
  'private_key',
  'privatekey',
  'access_key',
  'accesskey',
  'bearer',
  'api_secret',
  'apisecret',
  'client_secret',
  'clientsecret',
];

/**
 * Removes the values of some keys from what is shown of a run. The model, the tools and the thread's log get the
 * originals.
 */
export interface Redactor {
  /** A redacted copy, or the value itself if there is nothing to redact. */
  value<T>(value: T): T;
  /** Redacts JSON text, and `"key": "…"`, `key=…` and the like in any other text. */
  text(text: string): string;
}

/**
 * @param keys exact names, case-insensitive
 *
 * @example
 * createKeyRedactor(['password']).value({ user: 'ann', password: 'x' }); // { user: 'ann', password: '[REDACTED]' }
 */
export function createKeyRedactor(keys: readonly string[] = defaultRedactKeys): Redactor {
  if (keys.length === 0) return { value: (value) => value, text: (text) => text };
  const names = new Set(keys.map((key) => key.toLowerCase()));
  const any = [...names].map((name) => name.replace(/[^\w]/g, '\\$&')).join('|');
  // Only a parser could tell where a nested value ends, so redact the rest of the line.
  const nested = String.raw`[{\[][^\r\n]*`;
  const quoted = String.raw`\\"(?:(?!\\").)*\\"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
  const pattern = new RegExp(
    String.raw`(?<![\w-])(\\?["']?)(${any})\1(\s*[:=]\s*)(?:\[REDACTED\]|${nested}|${quoted}|(?:(?:bearer|basic)\s+)?[^\s"'\\,;&}\])]+)`,
    'gis',
  );
  const text = (value: string): string => json(value) ?? value.replace(pattern, `$1$2$1$3${mark}`);

  /** The redacted JSON; undefined if nothing changed or the text is not JSON. */
  const json = (value: string): string | undefined => {
    if (!/^\s*[{[]/.test(value)) return undefined;
    try {
      const parsed = JSON.parse(value) as unknown;
      const clean = walk(parsed);
      return clean === parsed ? undefined : JSON.stringify(clean);
    } catch {
      // not JSON, or nested too deeply to walk
      return undefined;
    }
  };

  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (value === null || typeof value !== 'object') return value;
    let copy: Record<string, unknown> | undefined;
    // Parsed JSON has no inherited keys, so for-in is safe.
    for (const key in value) {
      const child = (value as Record<string, unknown>)[key];
      const clean = names.has(key.toLowerCase()) ? mark : walk(child);
      if (clean === child) continue;
      copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
      copy[key] = clean;
    }
    return copy ?? value;
  };
  return { value: <T>(value: T): T => walk(value) as T, text };
}
