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

/** A tool call by its place in the run, as the database keeps it: the round, from 1, and its index in the round, from 0. */
export interface CallRef {
  round: number;
  index: number;
}

/** How a call is named wherever people and programs name it, such as `1.0`. */
export const callName = ({ round, index }: { round?: unknown; index?: unknown }): string =>
  `${String(round)}.${String(index)}`;

/** Reads the name of a call. @throws LanefoldError `invalid_input` */
export function readCall(call: string): CallRef {
  const [, round, index] = (typeof call === 'string' && /^(\d{1,4})\.(\d{1,4})$/.exec(call)) || [];
  if (index !== undefined) return { round: Number(round), index: Number(index) };
  throw new LanefoldError('invalid_input', `${JSON.stringify(call)} is not a tool call.`, {
    hint: 'Pass its round and index, such as 1.0: `call` in approvals or waits of the run.',
  });
}
