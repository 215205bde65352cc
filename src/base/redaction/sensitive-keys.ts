import { maxRequestDepth, parseJson } from '../common/json.ts';
import { cleanText } from '../checks/values.ts';

/*
 * Redaction by key: removes the values of sensitive keys from data that describes a run (traces, jobs, logs). For error
 * text, where an API key may appear without a name, see error-text.ts.
 */

/** Replaces a redacted value. */
export const mark = '[REDACTED]';

/** The keys redacted by default; `*` stands for any beginning. */
export const defaultRedactKeys: readonly string[] = [
  '*password',
  '*passwd',
  '*secret',
  '*api_key',
  '*api-key',
  '*apikey',
  '*access_token',
  '*refresh_token',
  '*auth_token',
  '*authtoken',
  '*session_token',
  '*sessiontoken',
  '*private_key',
  '*privatekey',
  '*access_key',
  '*accesskey',
  'id_token',
  'token',
  'bearer',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
];

/**
 * Redacts the values of sensitive keys in displayed data of a run. The model, the tools and the thread's log get the
 * originals.
 */
export interface Redactor {
  /** A redacted copy, or the value itself if there is nothing to redact. */
  value<T>(value: T): T;
  /** Redacts JSON text, and `"key": "…"`, `key=…` and the like in any other text. */
  text(text: string): string;
}

/**
 * Never throws, and takes time in proportion to the text.
 *
 * @param keys exact names, case-insensitive; `*password` means every key that ends so
 *
 * @example
 * createKeyRedactor(['password']).value({ user: 'ann', password: 'x' }); // { user: 'ann', password: '[REDACTED]' }
 */
export function createKeyRedactor(keys: readonly string[] = defaultRedactKeys): Redactor {
  if (keys.length === 0) return { value: (value) => value, text: (text) => text };
  const isSecret = matcher(keys);
  const label = labelPattern(keys);
  const text = (value: string): string =>
    json(value) ?? (mayName.test(value) ? hideForms(hideLabelled(value, label)) : value);

  /** The redacted JSON; undefined if nothing changed or the text is not JSON. */
  const json = (value: string): string | undefined => {
    if (!/^\s{0,1000}[{[]/.test(value)) return undefined;
    try {
      const parsed = parseJson(value, maxRequestDepth) as unknown;
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
      const clean = isSecret(key) ? mark : walk(child);
      if (clean === child) continue;
      copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
      copy[key] = clean;
    }
    return copy ?? value;
  };
  return { value: <T>(value: T): T => orMark(() => walk(value) as T), text: (value) => orMark(() => text(value)) };
}

/**
 * Every label and form contains one of these; most texts of a trace, such as names, numbers and states of a run,
 * contain no key.
 */
const mayName = /[:=\s]/;

/** Replaces a value that is nested too deeply to search. */
function orMark<T>(redact: () => T): T {
  try {
    return redact();
  } catch {
    return mark as T;
  }
}

function matcher(keys: readonly string[]): (key: string) => boolean {
  const lower = keys.map((key) => key.toLowerCase());
  const names = new Set(lower.filter((key) => !key.startsWith('*')));
  const ends = lower.filter((key) => key.startsWith('*')).map((key) => key.slice(1));
  const isSecret = (given: string) => {
    const key = given.toLowerCase();
    return names.has(key) || ends.some((end) => key.endsWith(end));
  };
  // traces repeat the same few keys
  const known = new Map<string, boolean>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const answer = isSecret(given);
    if (known.size < 1_000 && given.length <= 64) known.set(given, answer);
    return answer;
  };
}

function hideLabelled(text: string, label: RegExp): string {
  let shown = '';
  let from = 0;
  label.lastIndex = 0;
  while (label.test(text)) {
    const at = label.lastIndex;
    const end = endOfValue(text, at);
    if (end === at) continue;
    shown += text.slice(from, at) + mark;
    from = label.lastIndex = end;
  }
  return from === 0 ? text : shown + text.slice(from);
}

/** Secrets that stand without a key: bearer tokens, and credentials in URLs. */
const hideForms = (text: string): string =>
  hideUrlCredentials(text.replace(/\b(bearer\s{1,4})(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{8,4096}/gi, `$1${mark}`), mark);

/*
 * Finds the end of a secret's value in text that is not JSON. Written by hand, because a regular expression that
 * repeats over megabytes overflows the engine's stack.
 */

const plainEnd = new Set([...' \t\r\n\v\f"\'\\,;&}])']);

/** Where the value that starts at `from` ends; `from` itself if there is no value. */
function endOfValue(text: string, from: number): number {
  const first = text[from];
  // Only a parser could tell where a nested value ends.
  if (first === '{' || first === '[') return text.startsWith('[REDACTED]', from) ? from : endOfLine(text, from);
  if (text.startsWith('\\"', from)) return endAfter(text, text.indexOf('\\"', from + 2), 2, from);
  if (first === '"' || first === "'") return endAfter(text, closingQuote(text, from, first), 1, from);
  const scheme = /(?:bearer|basic)[ \t]{1,8}/iy;
  scheme.lastIndex = from;
  let at = scheme.test(text) ? scheme.lastIndex : from;
  while (at < text.length && !plainEnd.has(text[at]!)) at += 1;
  return at;
}

/** The index after a closing quote; without one, the rest of the line counts as the value. */
const endAfter = (text: string, close: number, length: number, from: number): number =>
  close < 0 ? endOfLine(text, from) : close + length;

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function closingQuote(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

/**
 * The only place that builds patterns from text. A pattern that is written down is checked by ESLint, which cannot see what
 * one is built from: so a part that is not written here is a name, taken literally.
 */

/** Text as the part of a pattern that matches it. */
const literally = (text: string): string => text.replace(/[^\w]/g, '\\$&');

/**
 * The keys of labelled values, such as `api_key=` and `"api_key":`, with their quotes and the sign. `*key` stands for any
 * name of at most 64 more characters that ends so, and a name begins at the first of its letters: so it is read once for
 * each key.
 */
const labelPattern = (keys: readonly string[]): RegExp =>
  new RegExp(
    String.raw`(?<![\w-])(?=[\w\\"'-])(\\?["']?)(?:${keys.map(keyPattern).join('|')})\1\s{0,20}[:=]\s{0,20}`,
    'gi',
  );

const keyPattern = (key: string): string =>
  key.startsWith('*') ? String.raw`[\w-]{0,64}${literally(key.slice(1))}` : literally(key);

/**
 * Hides `user:password` in URLs, in time proportional to the text. A password may itself contain `@`, `/`, `?` or `#`,
 * so it ends at the last `@` before a space or a quote. A short number before a path is a port.
 */
export const hideUrlCredentials = (text: string, mark: string): string =>
  text.replace(/:\/\/[^\s"']+/g, (urls) => {
    const end = urls.lastIndexOf('@');
    const start = urls.slice(0, Math.max(end, 0)).search(/:\/\/[^:/?#@[]*:(?!\d{1,5}[/?#])/);
    return start === -1 ? urls : `${urls.slice(0, start)}://${mark}${urls.slice(end)}`;
  });

/*
 * Redaction by form: removes API keys and credentials from the error text of providers, tools and repair functions.
 * For data, where a key names the secret, see sensitive-keys.ts.
 */

const maxMessageLength = 2_000;

const patterns: [RegExp, string][] = [
  [/\b(?:lfk|lft)[-_][\w*.-]{6,}/g, '[redacted]'],
  // signed tokens: of events and checkpoints
  [/\b(?:ev1|rt2)\.[\w-]{8,}\.[\w-]{8,}/g, '[redacted]'],
  // Names such as `pk_orders` and `key-value-store` begin like keys, so a key must contain at least ten letters and
  // digits in a row, including a digit. The id of one of our keys says who made a request, and grants no access.
  [
    /\b(?!key_[0-9a-v]{26}(?![\w*.-]))(?:(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|key)[-_]|npm_)(?=[\w*.-]{0,200}?(?<![A-Za-z0-9*])(?=[A-Za-z]{0,200}[0-9*])[A-Za-z0-9*]{10})[\w*.-]+/g,
    '[redacted]',
  ],
  [/\b(?:AIza[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,})/g, '[redacted]'],
  [/\b(?:gh[opusr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{6,}/g, '[redacted]'],
  [/\b(Bearer|Basic)\s+[^\s"',]+/gi, '$1 [redacted]'],
  [/([?&](?:api[-_]?key|key|token|access_token)=)[^&\s"']+/gi, '$1[redacted]'],
  [
    /((?:[\w-]{0,64}(?:password|passwd|secret)|(?:access|refresh|id|auth)[-_]token)["']?\s{0,9}[:=]\s{0,9}["']?)[^\s"',}&]{3,}/gi,
    '$1[redacted]',
  ],
  [/((?:x-)?api[-_]?key"?\s*[:=]\s*"?)[^\s"',}]{6,}/gi, '$1[redacted]'],
];

/** The secrets in this process's environment, to catch API keys of an unknown format. */
function knownSecrets(): string[] {
  return Object.keys(process.env)
    .filter((name) => /(_KEY|_TOKEN|_SECRET|PASSWORD)$/.test(name))
    .map((name) => process.env[name] ?? '')
    .filter((value) => value.length >= 8)
    .sort((a, b) => b.length - a.length);
}

/** Makes error text safe to store and show: no API keys, nothing PostgreSQL cannot store, at most 2,000 characters. */
export const redactSecrets = (message: string): string => secretRedactor()(message);

/** `redactSecrets` for several texts: reading the environment takes longer than most texts. */
export function secretRedactor(): (message: string) => string {
  const secrets = knownSecrets();
  return (message) => cleanText(mask(message, secrets));
}

/** Error text without API keys and credentials, of at most 2,000 characters. */
export const maskSecrets = (message: string): string => mask(message, knownSecrets());

function mask(message: string, secrets: readonly string[]): string {
  // Bodies can be megabytes. Keep more than the final length, so that a key across the cut is still recognised.
  let text = message.slice(0, maxMessageLength * 4);
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]');
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  text = hideUrlCredentials(text, '[redacted]');
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;
}
