import { LanefoldError } from './errors.ts';

/** Text PostgreSQL cannot store: NUL and lone surrogates (jsonb refuses both, text refuses NUL). */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

export const cleanText = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** Finds the first unstorable string in a JSON value; returns its path (`$.a[0]`), or undefined. */
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

/** Refuses text of a caller that the database could not give back unchanged. */
export function assertStorable(value: unknown, what: string): void {
  const path = findUnstorable(value);
  if (!path) return;
  throw new LanefoldError('invalid_text', `${what} has a NUL character or a lone surrogate at ${path}.`, {
    hint: 'Remove it (string.toWellFormed(), replaceAll("\\0", "")) and send it again. Nothing was written.',
    details: { path },
  });
}

/** Replaces unstorable text deep inside a JSON value of a model or tool; says whether anything changed. */
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
