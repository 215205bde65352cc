import { maxRequestDepth } from '../common/json.ts';
import { LanefoldError } from '../errors.ts';

/** False for text with NUL or a lone surrogate: jsonb rejects both, text rejects NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

/** Replaces what PostgreSQL cannot store with U+FFFD. */
export const cleanText = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** A value that should be a word. `String` throws for an object of JSON whose `toString` is no function. */
export const wordOf = (value: unknown): string =>
  Object(value) === value ? (Array.isArray(value) ? 'list' : 'object') : String(value);

/** Whether a text is empty or only Unicode white space, which is more than `trim` removes. */
export const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text);

/** Whether providers take a text for empty: they also strip the separators of Python and the byte order mark. */
export function isBlankToProviders(text: string): boolean {
  const first = text.charCodeAt(0);
  // an ordinary text, at a hundredth of the cost
  if (first > 32 && first < 127) return false;
  return /^[\p{White_Space}\u001c-\u001f\ufeff]*$/u.test(text);
}

/** Normalises a system prompt: a blank one becomes null, because providers reject an empty system message. */
export const promptOf = (text: string | null): string | null => (text === null || isBlank(text) ? null : text);

/** Why the database could not return a value unchanged, or the code that walks it could not follow. */
interface Flaw {
  /** Such as `$.a[0]`. */
  path: string;
  /** As in "it contains …". */
  what: string;
  isText: boolean;
}

/** The first flaw of a value that is to become JSON: unstorable text, no JSON, or deeper than a request may be. */
export const findFlaw = (value: unknown, { texts = true } = {}): Flaw | undefined => flawIn(value, '$', 0, texts);

function flawIn(value: unknown, path: string, depth: number, texts: boolean): Flaw | undefined {
  if (typeof value === 'string') return !texts || isStorable(value) ? undefined : badText(path);
  if (value === undefined || value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : noJson(path, 'a number that is out of range');
  if (typeof value !== 'object') return noJson(path, `a ${typeof value}`);
  if (depth === maxRequestDepth) return noJson(path, `more than ${maxRequestDepth} levels of nesting`);
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = flawIn(item, `${path}[${i}]`, depth + 1, texts);
      if (found) return found;
    }
    return undefined;
  }
  if (ArrayBuffer.isView(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length === 0 && isOpaque(value))
    return noJson(path, `a ${value.constructor?.name || 'value'}, which is not JSON`);
  for (const [key, item] of entries) {
    if (texts && !isStorable(key)) return badText(`${path}.${JSON.stringify(key)}`);
    const found = flawIn(item, `${path}.${key}`, depth + 1, texts);
    if (found) return found;
  }
  return undefined;
}

const badText = (path: string): Flaw => ({ path, what: 'a NUL character or a lone surrogate', isText: true });
const noJson = (path: string, what: string): Flaw => ({ path, what, isText: false });

/** Whether an object without fields is more than an empty object: JSON would write a Map or an Error as `{}`. */
export function isOpaque(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** Rejects a caller's value that the database could not return unchanged. @throws LanefoldError `invalid_text`, `invalid_input` */
export function assertStorable(value: unknown, what: string): void {
  const flaw = findFlaw(value);
  if (!flaw) return;
  const { path, isText } = flaw;
  throw new LanefoldError(
    isText ? 'invalid_text' : 'invalid_input',
    `${what} contains ${flaw.what} at ${shown(path)}.`,
    {
      hint: isText
        ? 'Nothing was written. Remove it with string.toWellFormed() and replaceAll("\\0", ""), then retry.'
        : 'Nothing was written. Pass JSON: a number with more digits than JavaScript keeps as a string, lists and objects in place of maps and sets.',
      details: { path },
    },
  );
}

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);

/**
 * Replaces unstorable text anywhere in a JSON value, and what is nested deeper than a request may be, with U+FFFD;
 * `cleaned` is true if anything changed.
 */
export function cleanJson<T>(value: T): { value: T; cleaned: boolean } {
  if (findFlaw(value) === undefined) return { value, cleaned: false };
  let cleaned = false;
  const cleanOf = (text: string): string => {
    const storable = cleanText(text);
    cleaned ||= storable !== text;
    return storable;
  };
  const walk = (node: unknown, depth: number): unknown => {
    if (typeof node === 'string') return cleanOf(node);
    if (node === null || typeof node !== 'object') return node;
    if (depth === maxRequestDepth) {
      cleaned = true;
      return '\ufffd';
    }
    if (Array.isArray(node)) return node.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(node).map(([k, v]) => [cleanOf(k), walk(v, depth + 1)]));
  };
  const clean = walk(value, 0) as T;
  return cleaned ? { value: clean, cleaned } : { value, cleaned };
}

/** Whether a name is an IANA time zone. Offsets such as `+02:00` are not: PostgreSQL reads them with the opposite sign. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A century, in ms: a time that far from now is still one that JavaScript and PostgreSQL can write. */
export const centuryMs = 3_155_760_000_000;

/**
 * Rejects anything but undefined or a whole number from `minimum` to `maximum`, with a clearer error than PostgreSQL's.
 *
 * @throws LanefoldError `invalid_input`
 */
export function assertWhole(
  value: unknown,
  what: string,
  {
    minimum = 0,
    maximum = Number.MAX_SAFE_INTEGER,
    hint = 'Pass the rev or seq you read. Nothing was written.',
  }: { minimum?: number; maximum?: number; hint?: string } = {},
): void {
  const number = value as number;
  if (value === undefined || (Number.isSafeInteger(value) && number >= minimum && number <= maximum)) return;
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new LanefoldError('invalid_input', `${what} must be a whole number ${range}; got ${JSON.stringify(value)}.`, {
    hint,
  });
}

/**
 * Rejects anything but undefined, Infinity or a number of at least 0.
 *
 * @throws LanefoldError `invalid_input`
 */
export function assertWait(value: unknown, what: string): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw new LanefoldError(
    'invalid_input',
    `${what} must be a number of milliseconds of at least 0; got ${String(value)}.`,
    {
      hint: 'Omit it to wait without limit.',
    },
  );
}
