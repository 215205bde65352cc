import { LanefoldError } from './errors.ts';

/** Refuses what is neither absent nor a whole number from 0: PostgreSQL would answer with its own words. */
export function assertWhole(value: unknown, what: string): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return;
  throw new LanefoldError('invalid_input', `${what} is ${JSON.stringify(value)}, not a whole number from 0.`, {
    hint: 'Pass the rev or seq you read. Nothing was written.',
  });
}
