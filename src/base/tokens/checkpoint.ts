import { LanefoldError, type ErrorCode } from '../errors.ts';

/**
 * The content of a checkpoint token: a run, its step and the fingerprint of its agent. It holds no text of the
 * conversation, because a token is signed but not encrypted.
 */
export interface Checkpoint {
  threadId: string;
  runId: string;
  requestId: string;
  agent: string;
  step: number;
  /** When the token was issued and when it expires, in ms since 1970; null: never. */
  iatMs: number;
  expMs: number | null;
  configFingerprint: string;
  state: {
    /** The lane the run is on. */
    context: string;
    status: string;
    iteration: number;
  };
}

/** The error for an invalid token; the code names the check that failed. */
export const refused = (code: ErrorCode, why: string, details?: Record<string, unknown>): LanefoldError =>
  new LanefoldError(code, `The checkpoint token is invalid: ${why}.`, {
    hint: 'Create a new token with runs.checkpoint, or start a new run.',
    ...(details ? { details } : {}),
  });
