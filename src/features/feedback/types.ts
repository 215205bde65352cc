// Generated from declaration.ts beside it: run `npm run types:api`.

/** What `feedback.give` wrote. */
export interface FeedbackReceipt {
  /** The entry with the feedback. */
  seq: number;
  /** The message of the assistant. */
  answerSeq: number;
  /** The run that gave the answer. */
  runId: string | null;
  /** Whether the key was used before: then nothing was written. */
  duplicate: boolean;
}

/** What a person thinks of an answer. */
export interface GivenFeedback {
  threadId: string;
  /** The entry with the feedback. */
  seq: number;
  /** The message of the assistant. */
  answerSeq: number;
  runId: string | null;
  /** The lane of the answer. */
  contextRef: string;
  rating: 'up' | 'down' | null;
  comment: string | null;
  by: string | null;
  /** When it was given. */
  at: Date;
  /** Whether it is the last word of this person about this answer. */
  latest: boolean;
  agent: string | null;
  agentVersion: string | null;
}

export interface NewFeedback {
  /** The message of the assistant, by its `seq`. */
  answerSeq?: number;
  /** Instead of `answerSeq`: the last answer of this run. */
  runId?: string;
  /** Without rating and comment, the person takes back an earlier opinion. */
  rating?: 'up' | 'down';
  comment?: string;
  /** The person. The last word of each person about an answer counts. */
  by?: string;
  /** The idempotency key. */
  opId?: string;
}

export interface Feedback {
  /**
   * Notes what a person thinks of an answer, as an entry of the kind `feedback` that no model sees. The run gets
   * the mark `liked` or `disliked`.
   *
   * @example
   * await lanefold.feedback.give('support-42', { runId: run.id, rating: 'down', comment: 'Another order.' });
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `idempotency_mismatch`, `invalid_input`
   */
  give(
    threadId: string,
    options?: {
      /** The message of the assistant, by its `seq`. */
      answerSeq?: number;
      /** Instead of `answerSeq`: the last answer of this run. */
      runId?: string;
      /** Without rating and comment, the person takes back an earlier opinion. */
      rating?: 'up' | 'down';
      comment?: string;
      /** The person. The last word of each person about an answer counts. */
      by?: string;
      /** The idempotency key. */
      opId?: string;
    },
  ): Promise<FeedbackReceipt>;
  /**
   * Feedback, the newest first.
   *
   * @throws LanefoldError `invalid_input`
   */
  list(options?: {
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
    /** Only of this thread. */
    threadId?: string;
    /** Only on answers of this run; with `threadId`. */
    runId?: string;
    /** Only on answers of this agent. */
    agent?: string;
    rating?: 'up' | 'down';
    /** true: only the last word of each person about an answer. */
    latest?: boolean;
  }): Promise<{
    data: GivenFeedback[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
}
