import type { Checkpoint } from './checkpoint.ts';
import { fromPayload, toPayload, type Expected } from './payload.ts';
import { sign, verify } from './signature.ts';

/** A checkpoint as a token, signed with `secret`. Pure: the same checkpoint is the same token. */
export const encodeToken = (point: Checkpoint, secret: string): string => sign(toPayload(point), secret);

/** The checkpoint of a token that any of `secrets` has signed. @throws LanefoldError by the names of reference 6.2 */
export const decodeToken = (token: unknown, secrets: readonly string[], expected: Expected): Checkpoint =>
  fromPayload(verify(token, secrets), expected);
