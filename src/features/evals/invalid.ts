import { LanefoldError } from '../../base/errors.ts';

/** The error of a case that was given. */
export const invalidCase = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The case is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and try again.',
    details: { field, problem },
  });

/** The error of a definition. */
export const invalidEval = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The eval is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and run the eval again.',
    details: { field, problem },
  });

export const evalNotFound = (id: string): LanefoldError =>
  new LanefoldError('eval_not_found', `Eval ${id} does not exist.`, {
    hint: 'List the evals with `lanefold eval list`.',
  });
