import { LanefoldError } from '../../../base/errors.ts';

/** The error of a definition. */
export const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The webhook is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the webhook again.',
    details: { field, problem },
  });
