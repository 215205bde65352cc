import { LanefoldError } from '../../../base/errors.ts';

/** The error of a definition. */
export const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The eval is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and run the eval again.',
    details: { field, problem },
  });

export const evalNotFound = (id: string): LanefoldError =>
  new LanefoldError('eval_not_found', `Eval ${id} does not exist.`, {
    hint: 'List the evals with `lanefold eval list`.',
  });
