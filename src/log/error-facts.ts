import { errorStatus, LanefoldError } from '../errors.ts';

/** An error as data, with its stack where it is a bug: the others say what happened and what to do. */
export function errorFacts(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const expected = error instanceof LanefoldError && errorStatus[error.code] !== 500;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: error.message,
    ...(expected ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === 3 ? {} : { cause: errorFacts(error.cause, depth + 1) }),
  };
}
