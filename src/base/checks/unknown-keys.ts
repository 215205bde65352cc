import { closest } from './closest.ts';
import { LanefoldError, type ErrorCode } from '../errors.ts';

/** Every key of a type: the compiler checks that none is missing. */
export type KeysOf<T> = Record<keyof T, true>;

/**
 * Rejects unknown keys, which are mostly typos. A key whose value is undefined counts as absent.
 *
 * @param what for the message: `createLanefold`, `Agent "support"`
 * @throws LanefoldError `code`, default `invalid_input`
 */
export function refuseUnknownKeys(
  what: string,
  given: object | undefined,
  keys: Record<string, true>,
  code: ErrorCode = 'invalid_input',
): void {
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === undefined || Object.hasOwn(keys, key)) continue;
    const meant = closest(key, Object.keys(keys));
    throw new LanefoldError(code, `${what} does not take ${JSON.stringify(key)}.`, {
      hint: meant ? `Did you mean ${JSON.stringify(meant)}?` : `It takes ${Object.keys(keys).sort().join(', ')}.`,
      details: { key, ...(meant ? { did_you_mean: meant } : {}) },
    });
  }
}
