import { LanefoldError } from '../errors.ts';

/** False for text with NUL or a lone surrogate: jsonb rejects both, text rejects NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

/** Replaces what PostgreSQL cannot store with U+FFFD. */
export const cleanText = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd');

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

/** The path (`$.a[0]`) of the first unstorable string in a JSON value, or undefined. */
export function findUnstorable(value: unknown, path = '$'): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = findUnstorable(item, `${path}[${i}]`);
      if (found) return found;
    }
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (!isStorable(key)) return `${path}.${JSON.stringify(key)}`;
      const found = findUnstorable(item, `${path}.${key}`);
      if (found) return found;
    }
  }
  return undefined;
}

/** Rejects a caller's text that the database could not return unchanged. @throws LanefoldError `invalid_text` */
export function assertStorable(value: unknown, what: string): void {
  const path = findUnstorable(value);
  if (!path) return;
  throw new LanefoldError('invalid_text', `${what} contains a NUL character or a lone surrogate at ${path}.`, {
    hint: 'Nothing was written. Remove it with string.toWellFormed() and replaceAll("\\0", ""), then retry.',
    details: { path },
  });
}

/** Replaces unstorable text anywhere in a JSON value; `cleaned` is true if anything changed. */
export function cleanJson<T>(value: T): { value: T; cleaned: boolean } {
  if (findUnstorable(value) === undefined) return { value, cleaned: false };
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return cleanText(node);
    if (Array.isArray(node)) return node.map(walk);
    if (node !== null && typeof node === 'object')
      return Object.fromEntries(Object.entries(node).map(([k, v]) => [cleanText(k), walk(v)]));
    return node;
  };
  return { value: walk(value) as T, cleaned: true };
}
