/** The kinds of messages a policy can include. `tool_call` and `tool_result` both mean the whole tool group. */
export type ContentKind = 'message' | 'tool_call' | 'tool_result' | 'summary';

/** How a context is cut before a model call. Every field has a default; unknown fields are rejected. */
export interface ContextPolicy {
  /**
   * Tokens of a request and its answer together. Default: the context window of the model, or no limit if that is
   * unknown. `window` rejects a model whose window is unknown; null means no limit.
   */
  maxInputTokens?: number | 'window' | null;
  /**
   * Tokens of `maxInputTokens` that are reserved for the answer. Default: 2,000, at most a third of the limit; of a
   * window, an eighth, at most 32,000, unless the settings of the call have `maxOutputTokens`.
   */
  reserveOutputTokens?: number;
  /** Maximum messages besides the system prompt; 0 (default): no limit. */
  maxMessages?: number;
  /**
   * The newest turns to keep whole, even over budget; default 3. A turn is a user message and what follows it. The
   * newest user message is always kept.
   */
  keepLastTurns?: number;
  /**
   * What to do with the summary of a compaction: `use_existing` (default) keeps it at the start, `none` leaves it out.
   * `request_new` also makes one: a run whose context is over budget compacts its lane between rounds, and cuts its
   * context only if that fails.
   */
  summarization?: 'none' | 'use_existing' | 'request_new';
  /**
   * Share of the budget, 0 to 1, at which a run, when it ends, requests a compaction of its lane as a separate run.
   * Default: none.
   */
  compactAt?: number;
  /** The role the summary is sent with; default `system`. */
  summaryRole?: 'system' | 'user';
  /** Default: all. */
  includeKinds?: ContentKind[];
  /** Sent instead of the system prompt of the lane. For an agent, use `instructions`. */
  systemPrompt?: string;
  /**
   * How tokens are counted: `heuristic` (bytes / 4), `calibrated` (the heuristic, corrected by what the provider
   * counted; default), `exact` (the tokenizer of the model, if one is published; else `calibrated`), or the name of a
   * custom estimator.
   */
  tokenEstimator?: string;
  /** The name of a custom projector, which chooses the messages instead. */
  projector?: string;
}

export type PolicyPreset = 'window' | 'short_context' | 'long_context' | 'tool_focused';

/** A policy, or the name of a preset. */
export type PolicyOption = ContextPolicy | PolicyPreset;

/** A policy as it is stored and sent: in snake_case, with presets expanded and fixed defaults filled in. */
export interface StoredPolicy {
  max_input_tokens?: number | 'window' | null;
  reserve_output_tokens?: number;
  max_messages: number;
  keep_last_turns: number;
  summarization: 'none' | 'use_existing' | 'request_new';
  compact_at?: number;
  summary_role: 'system' | 'user';
  include_kinds: ContentKind[];
  system_prompt?: string;
  token_estimator: string;
  projector?: string;
}

export const allKinds: readonly ContentKind[] = ['message', 'tool_call', 'tool_result', 'summary'];

const defaults: StoredPolicy = {
  max_messages: 0,
  keep_last_turns: 3,
  summarization: 'use_existing',
  summary_role: 'system',
  include_kinds: [...allKinds],
  token_estimator: 'calibrated',
};

export const presets: Readonly<Record<PolicyPreset, ContextPolicy>> = {
  /** The policy of a run without one: it sends what it can and drops the oldest turns when the window is full. */
  window: { keepLastTurns: 1, summaryRole: 'user' },
  short_context: { maxInputTokens: 6_000, keepLastTurns: 2 },
  long_context: { maxInputTokens: 100_000, keepLastTurns: 10, maxMessages: 0 },
  tool_focused: { keepLastTurns: 5, includeKinds: ['message', 'tool_call', 'tool_result'], summarization: 'none' },
};

/** The stored form of fields in snake_case that `readPolicy` has checked. */
export const withDefaults = (fields: Partial<StoredPolicy>): StoredPolicy => ({ ...defaults, ...fields });
