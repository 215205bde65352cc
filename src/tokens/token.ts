import type { Checkpoint } from './checkpoint.ts';
import { fromPayload, toPayload, type Expected } from './payload.ts';
import { sign, verify } from './signature.ts';

/** Signs a checkpoint with `secret`. Deterministic: the same checkpoint gives the same token. */
export const encodeToken = (point: Checkpoint, secret: string): string => sign(toPayload(point), secret);

/**
 * The checkpoint of a token signed with any of `secrets`.
 *
 * @throws LanefoldError with the code of the first check that fails
 */
export const decodeToken = (token: unknown, secrets: readonly string[], expected: Expected): Checkpoint =>
  fromPayload(verify(token, secrets), expected);
