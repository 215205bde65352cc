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
