import { LanefoldError } from '../../../base/errors.ts';

/** The error of a case that was given. */
export const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The case is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and try again.',
    details: { field, problem },
  });
