/** What stands where a secret stood. */
const mark = '[REDACTED]';

/** Keys whose values stay out of traces and logs unless others are given: the exact names of reference 2.7. */
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

/** Takes the values of some keys out of what is shown of a run. What the model, the tools and the log have is not shown. */
export interface Redactor {
  /** The value itself where there is nothing to take out. */
  value<T>(value: T): T;
  /** Of JSON, and of `"key": "…"`, `key=…` and the like, as errors and answers quote them. */
  text(text: string): string;
}

/**
 * @param keys exact names, in any case
 *
 * @example
 * createKeyRedactor(['password']).value({ user: 'ann', password: 'x' }); // { user: 'ann', password: '[REDACTED]' }
 */
export function createKeyRedactor(keys: readonly string[] = defaultRedactKeys): Redactor {
  if (keys.length === 0) return { value: (value) => value, text: (text) => text };
  const names = new Set(keys.map((key) => key.toLowerCase()));
  const any = [...names].map((name) => name.replace(/[^\w]/g, '\\$&')).join('|');
  // what is nested ends where nobody knows without parsing it: with the line, to be safe
  const nested = String.raw`[{\[][^\r\n]*`;
  const quoted = String.raw`\\"(?:(?!\\").)*\\"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
  const pattern = new RegExp(
    String.raw`(?<![\w-])(\\?["']?)(${any})\1(\s*[:=]\s*)(?:\[REDACTED\]|${nested}|${quoted}|(?:(?:bearer|basic)\s+)?[^\s"'\\,;&}\])]+)`,
    'gis',
  );
  const text = (value: string): string => json(value) ?? value.replace(pattern, `$1$2$1$3${mark}`);

  /** Text that is JSON without what it must not show; undefined where that is nothing, or it is no JSON. */
  const json = (value: string): string | undefined => {
    if (!/^\s*[{[]/.test(value)) return undefined;
    try {
      const parsed = JSON.parse(value) as unknown;
      const clean = walk(parsed);
      return clean === parsed ? undefined : JSON.stringify(clean);
    } catch {
      // no JSON, or nested deeper than the stack
      return undefined;
    }
  };

  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (value === null || typeof value !== 'object') return value;
    let copy: Record<string, unknown> | undefined;
    // JSON: no keys but its own
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
