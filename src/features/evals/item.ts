/** What a scorer said of an answer. */
export interface Score {
  scorer: string;
  /** The scorer's version when it gave the score; null if it has none. */
  version: string | null;
  /** 0 to 1; null if the scorer does not apply to the case, or failed (`error` says which). */
  score: number | null;
  reason: string | null;
  /** Why the scorer failed, as a sentence; null if it did not. */
  error: string | null;
}

export type EvalItemStatus = 'waiting' | 'running' | 'scoring' | 'done' | 'failed' | 'skipped' | 'erased';

/** One case, run once under one variant. */
export interface EvalItem {
  caseId: string;
  tags: string[];
  variant: string;
  /** From 1. */
  repeat: number;
  /** `failed` if the run failed; `skipped` if the eval was cancelled, or its budget used up, before it had an answer; `erased` if the thread of the case was erased. */
  status: EvalItemStatus;
  answer: string | null;
  scores: Score[];
  durationMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** How many of both are estimates, because the provider did not count them; default none. */
  estimatedTokens?: number | null;
  /** In millionths of a US dollar; null if the price is unknown. */
  costMicros: number | null;
  /**
   * The limit that ended the run before it had an answer, such as `max_iterations`; null if none did. A case of a call asks for one
   * message of the model, so a tool call answers it.
   */
  endedBy: string | null;
  /** The first difference from the recorded run; null if there is none. */
  diverged: string | null;
  /** Whether the answer was taken from an earlier eval. */
  reused: boolean;
  /** Why the run failed, or the item was skipped. */
  error: string | null;
}
