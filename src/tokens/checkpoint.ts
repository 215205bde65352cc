/**
 * What a checkpoint token says: which run, at which step, of which configuration. No text of the conversation: that is
 * in the log, and a token is signed, not encrypted.
 */
export interface Checkpoint {
  threadId: string;
  runId: string;
  requestId: string;
  agent: string;
  step: number;
  /** When it was minted and until when it counts, in ms since 1970; null for ever. */
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
