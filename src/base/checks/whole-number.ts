import { LanefoldError } from '../errors.ts';

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
