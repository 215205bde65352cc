import { LanefoldError } from './errors.ts';

/**
 * Refuses anything but undefined or a whole number of at least `minimum`, before PostgreSQL does so in its own words.
 *
 * @throws LanefoldError `invalid_input`
 */
export function assertWhole(
  value: unknown,
  what: string,
  {
    minimum = 0,
    hint = 'Pass the rev or seq you read. Nothing was written.',
  }: { minimum?: number; hint?: string } = {},
): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= minimum)) return;
  throw new LanefoldError(
    'invalid_input',
    `${what} must be a whole number of at least ${minimum}; got ${JSON.stringify(value)}.`,
    { hint },
  );
}
