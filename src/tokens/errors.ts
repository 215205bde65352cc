import { LanefoldError, type ErrorCode } from '../errors.ts';

/** A token that is refused, under the name of the check it failed. */
export const refused = (code: ErrorCode, why: string, details?: Record<string, unknown>): LanefoldError =>
  new LanefoldError(code, `The checkpoint token is refused: ${why}.`, {
    hint: 'Mint another one with runs.checkpoint, or start a new run.',
    ...(details ? { details } : {}),
  });
