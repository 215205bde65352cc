// Generated from declaration.ts beside it: run `npm run types:api`.

/** The kinds of messages a policy can include. `tool_call` and `tool_result` both mean the whole tool group. */
export type ContentKind = 'message' | 'tool_call' | 'tool_result' | 'summary';

/** How a context is cut before a model call. Every field has a default; unknown fields are rejected. */
export interface ContextPolicy {
  /**
   * Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown;
   * `window` rejects a model whose window is unknown; null: no limit.
   */
  maxInputTokens?: number | 'window' | null;
  /**
   * Tokens of `maxInputTokens` that are reserved for the answer. Default: 2,000, at most a third of the limit; of a
   * window, an eighth, at most 32,000, unless the settings of the call have `maxOutputTokens`.
   */
  reserveOutputTokens?: number;
  /** Maximum messages besides the system prompt; 0: no limit. */
  maxMessages?: number;
  /**
   * The newest turns to keep whole, even over budget; default 3. A turn is a user message and what follows it. The
   * newest user message is always kept.
   */
  keepLastTurns?: number;
  /**
   * What to do with the summary of a compaction: `use_existing` (default) keeps it at the start, `none` leaves it
   * out. `request_new` also makes one: a run whose context is over budget compacts its lane between rounds, and
   * cuts its context only if that fails.
   */
  summarization?: 'none' | 'use_existing' | 'request_new';
  /** Share of the budget at which a run requests a compaction of its lane when it ends; default: none. */
  compactAt?: number;
  /** The role the summary is sent with; default `system`. */
  summaryRole?: 'system' | 'user';
  /** Default: all. */
  includeKinds?: ContentKind[];
  /** Sent instead of the system prompt of the lane. For an agent, use `instructions`. */
  systemPrompt?: string;
  /**
   * How tokens are counted: `heuristic` (bytes / 4), `calibrated` (the heuristic, corrected by what the provider
   * counted; default), `exact` (the tokenizer of the model, if one is published; else `calibrated`), or the name of
   * a custom estimator.
   */
  tokenEstimator?: string;
  /** The name of a custom projector, which chooses the messages instead. */
  projector?: string;
}

/** A policy, or the name of a preset. */
export type PolicyOption = PolicyPreset | ContextPolicy;

export type PolicyPreset = 'window' | 'short_context' | 'long_context' | 'tool_focused';
