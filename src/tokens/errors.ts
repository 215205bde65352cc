import { LanefoldError, type ErrorCode } from '../errors.ts';

/** The error for an invalid token; the code names the check that failed. */
export const refused = (code: ErrorCode, why: string, details?: Record<string, unknown>): LanefoldError =>
  new LanefoldError(code, `The checkpoint token is invalid: ${why}.`, {
    hint: 'Create a new token with runs.checkpoint, or start a new run.',
    ...(details ? { details } : {}),
  });
