import { LanefoldError, type ErrorCode } from '../errors.ts';
import { distance } from 'fastest-levenshtein';

/** Every key of a type: the compiler checks that no key is missing. */
export type KeysOf<T> = Record<keyof T, true>;

/**
 * Rejects unknown keys, which are mostly typos. A key whose value is undefined counts as absent.
 *
 * @param what for the message: `createLanefold`, `Agent "support"`
 * @param field where they are, for `details.field`
 * @throws LanefoldError `code`, default `invalid_input`
 */
export function refuseUnknownKeys(
  what: string,
  given: object | undefined,
  keys: Record<string, true>,
  code: ErrorCode = 'invalid_input',
  field?: string,
): void {
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || Object.hasOwn(keys, key)) continue;
    const meant = closest(key, Object.keys(keys));
    throw new LanefoldError(code, `${what} does not take ${JSON.stringify(key)}.`, {
      hint: meant ? `Did you mean ${JSON.stringify(meant)}?` : `It takes ${Object.keys(keys).sort().join(', ')}.`,
      details: { key, ...(field === undefined ? {} : { field }), ...(meant ? { did_you_mean: meant } : {}) },
    });
  }
}

/**
 * The candidate a user most likely meant; undefined if every one differs by more than two letters and a third of the
 * name.
 */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  const typed = name.slice(0, 100).toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(Math.min(2, typed.length - 1), Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const d = distance(typed, candidate.toLowerCase());
    if (d < bestDistance) [best, bestDistance] = [candidate, d];
  }
  return best;
}
