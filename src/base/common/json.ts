/*
 * Reading JSON that others wrote. JavaScript reads every number as a double, so an id such as 2512292042121000001 would
 * silently become 2512292042121000000, and its own recursion ends at some thousand levels. Here a number that a double
 * cannot hold is refused with its path (`readJson`) or becomes a string with its digits (`parseJson`), as RFC 7493
 * recommends; nothing rounds it.
 */

/** How deep content may be nested: arguments, results, messages, metadata. Every recursion over content relies on it. */
export const maxDepth = 200;

/** How deep a request may be nested that carries content: a body, a call of the library, a line of an import. */
export const maxRequestDepth = maxDepth + 16;

/** Whether a value is an object of JSON, rather than a list or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type ReadJson =
  | { ok: true; value: unknown }
  /** `problem` is a sentence, or the message of the parser; `path` says which number. */
  | { ok: false; kind: 'syntax' | 'depth' | 'number' | 'values'; problem: string; path?: string };

/** Reads JSON from outside: refuses numbers that would change, and values nested deeper than `depth`. Never throws. */
export function readJson(text: string, depth = maxDepth): ReadJson {
  if (isDeeper(text, depth)) return { ok: false, kind: 'depth', problem: tooDeep(depth) };
  try {
    const quoted = quoteNumbers(text, mark);
    const value: unknown = JSON.parse(quoted);
    const found = quoted === text ? undefined : findMarked(value, '$');
    return found ? { ok: false, kind: 'number', problem: inexact(found), path: found.path } : { ok: true, value };
  } catch (error) {
    return { ok: false, kind: 'syntax', problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * `JSON.parse`, except that a number that a double cannot hold becomes a string with its digits. For JSON whose content
 * was checked when it came in, or that is only shown.
 *
 * @param depth how deep it may be nested; default: any depth
 * @throws SyntaxError
 */
export function parseJson(text: string, depth?: number): unknown {
  if (depth !== undefined && isDeeper(text, depth)) throw new SyntaxError(tooDeep(depth));
  return JSON.parse(quoteNumbers(text, ''));
}

/** Why a text that may be JSON cannot be read as it is: a number or its depth. A text that is not JSON has no such reason. */
export function findUnfit(text: string, depth = maxDepth): string | undefined {
  if (text.length <= 2 * depth && !isSuspect(text)) return undefined;
  const read = readJson(text, depth);
  return read.ok || read.kind === 'syntax' ? undefined : read.problem;
}

export const tooDeep = (depth: number): string => `The value is nested deeper than ${depth} levels.`;

/** Whether the double nearest to a JSON number is written as the same number again. */
export function isExact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const given = decimalOf(token);
  if (given.digits === '') return true;
  const { length } = given.digits;
  if (isSame(given, decimalOf(String(value)))) return true;
  // Some languages write a double with more digits than it needs. Digits alone are an id: no double prints it again.
  if (/^-?\d+$/.test(token) || length < 17 || length > 100 || isWhole(given, token)) return false;
  return isSame(given, decimalOf(value.toPrecision(length)));
}

/** JSON on one line of a stream: some readers take these characters, which JSON has in strings only, for its end. */
export const asLine = (json: string): string => json.replace(separators, escaped);

const separators = /[\u0085\u2028\u2029]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const candidate = /-?\d(?:[\d.]{15,}|[\d.]{0,15}[eE])[\d.eE+-]*/g;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Whether a text may have a number that a double cannot hold, for which it needs 16 digits or an exponent of three: almost
 * no text has one. As every text is searched, only every third character is: three digits in a row cannot hide between them.
 */
function isSuspect(text: string): boolean {
  for (let at = 2; at < text.length; at += 3) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let from = at;
    while (isDecimal(text.charCodeAt(from - 1))) from -= 1;
    let to = at + 1;
    while (isDecimal(text.charCodeAt(to))) to += 1;
    if (to - from >= 3 && isSuspectAt(text, from, to)) return true;
    at = to - 1;
  }
  return false;
}

/** Whether the digits belong to a number with many digits or to a large exponent, rather than to a string. */
function isSuspectAt(text: string, from: number, to: number): boolean {
  let start = from;
  const sign = text.charCodeAt(start - 1);
  const power = sign === 0x2b || sign === 0x2d ? start - 2 : start - 1;
  if (isPower(text.charCodeAt(power)) && isDecimal(text.charCodeAt(power - 1))) {
    start = power - 1;
    while (isDecimal(text.charCodeAt(start - 1))) start -= 1;
  } else if (to - from < 16) return false;
  if (text[start - 1] === '-') start -= 1;
  return start === 0 || ': ,[\n\r\t'.includes(text[start - 1]!);
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isDecimal = (code: number): boolean => isDigit(code) || code === 0x2e;
const isPower = (code: number): boolean => code === 0x65 || code === 0x45;

/** Puts numbers that a double cannot hold in quotes, each behind a prefix. Takes linear time. */
export function quoteNumbers(text: string, prefix: string): string {
  if (!isSuspect(text)) return text;
  let result = '';
  let copied = 0;
  let found = nextCandidate(text, 0);
  for (const [from, to] of outsideStrings(text)) {
    while (found && found.index < to) {
      const { index, 0: token } = found;
      if (index >= from && number.test(token) && !isExact(token)) {
        result += `${text.slice(copied, index)}${JSON.stringify(prefix + token)}`;
        copied = index + token.length;
      }
      found = nextCandidate(text, index < from ? from : index + token.length);
    }
    if (!found) break;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function nextCandidate(text: string, from: number): RegExpExecArray | null {
  candidate.lastIndex = from;
  return candidate.exec(text);
}

/** The parts of a JSON text between its strings. */
export function* outsideStrings(text: string): Generator<[from: number, to: number]> {
  let from = 0;
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', from)) {
    yield [from, quote];
    from = endOfString(text, quote) + 1;
  }
  yield [from, text.length];
}

/** The closing quote of the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/** Whether a JSON text is nested deeper. */
export function isDeeper(text: string, limit: number): boolean {
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (const [from, to] of outsideStrings(text)) {
    for (let at = from; at < to; at++) {
      const char = text.charCodeAt(at);
      // [ and { differ from ] and } in one bit each
      if (char === 0x5b || char === 0x7b) depth += 1;
      else if (char === 0x5d || char === 0x7d) depth -= 1;
      if (depth > limit) return true;
    }
  }
  return false;
}

const mark = '\u0000number ';

interface Marked {
  path: string;
  digits: string;
}

/** The first quoted number. A string of the text that looks like one can only spoil the path. */
function findMarked(value: unknown, path: string): Marked | undefined {
  if (typeof value === 'string') return value.startsWith(mark) ? { path, digits: value.slice(mark.length) } : undefined;
  if (value === null || typeof value !== 'object') return undefined;
  for (const [key, item] of Object.entries(value)) {
    const found = findMarked(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}

const inexact = ({ path, digits }: Marked): string =>
  `The number ${digits.length > 60 ? `${digits.slice(0, 60)}…` : digits} at ${path} has more digits than JSON readers ` +
  'keep. Write it as a string.';

/** A number as 0.digits × 10^exponent, without zeros at either end of the digits. */
interface Decimal {
  negative: boolean;
  digits: string;
  exponent: number;
}

function decimalOf(token: string): Decimal {
  const [mantissa = '', power = '0'] = token.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  const start = all.search(/[1-9]/);
  if (start < 0) return { negative: false, digits: '', exponent: 0 };
  let end = all.length;
  while (all[end - 1] === '0') end -= 1;
  return {
    negative: token.startsWith('-'),
    digits: all.slice(start, end),
    exponent: whole.length - start + Number(power),
  };
}

const isSame = (a: Decimal, b: Decimal): boolean =>
  a.negative === b.negative && a.digits === b.digits && a.exponent === b.exponent;

/** A whole number written without an exponent, such as 12345678901234567890.0. */
const isWhole = ({ digits, exponent }: Decimal, token: string): boolean =>
  digits.length <= exponent && !/e/i.test(token);

/** The fields without undefined ones, which stand for absent options and body fields. */
export const omitUndefined = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
