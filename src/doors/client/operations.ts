// Generated from the OpenAPI document: run `npm run types:api`.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** An error in the format of RFC 9457. */
export interface Problem {
  /** `urn:lanefold:<code>` */
  type: string;
  title: string;
  status: number;
  /**
   * Stable identifier, for programs.
   */
  code:
    | 'invalid_id'
    | 'invalid_input'
    | 'empty_content'
    | 'not_a_transaction'
    | 'invalid_text'
    | 'reserved_kind'
    | 'invalid_json'
    | 'invalid_request'
    | 'unsupported_media_type'
    | 'body_too_large'
    | 'resource_too_large'
    | 'body_timeout'
    | 'body_incomplete'
    | 'unknown_agent'
    | 'unknown_version'
    | 'unknown_model'
    | 'unknown_tool'
    | 'missing_provider_key'
    | 'invalid_agent'
    | 'invalid_tool'
    | 'invalid_scorer'
    | 'invalid_request_transformer'
    | 'invalid_output'
    | 'invalid_policy'
    | 'unknown_window'
    | 'invalid_projection'
    | 'validation_timeout'
    | 'unknown_strategy'
    | 'invalid_strategy_options'
    | 'invalid_strategy'
    | 'invalid_operation'
    | 'open_tool_group'
    | 'import_refused'
    | 'distributed_database'
    | 'idempotency_mismatch'
    | 'missing_token_secret'
    | 'invalid_token_prefix'
    | 'invalid_token_format'
    | 'invalid_base64'
    | 'invalid_token_signature'
    | 'invalid_token_payload'
    | 'token_version_mismatch'
    | 'invalid_token_issuer'
    | 'token_expired'
    | 'invalid_event_token'
    | 'token_config_mismatch'
    | 'invalid_token_state'
    | 'missing_field'
    | 'invalid_status'
    | 'invalid_context'
    | 'invalid_checkpoint_state'
    | 'unauthorized'
    | 'forbidden'
    | 'forbidden_host'
    | 'forbidden_origin'
    | 'override_not_allowed'
    | 'not_found'
    | 'method_not_allowed'
    | 'thread_not_found'
    | 'run_not_found'
    | 'key_not_found'
    | 'limit_not_found'
    | 'rollout_not_found'
    | 'schedule_not_found'
    | 'webhook_not_found'
    | 'monitor_not_found'
    | 'alarm_not_found'
    | 'circuit_not_found'
    | 'case_not_found'
    | 'dataset_empty'
    | 'eval_not_found'
    | 'eval_running'
    | 'eval_ended'
    | 'case_exists'
    | 'case_erased'
    | 'case_unverified'
    | 'delivery_not_found'
    | 'call_not_found'
    | 'content_not_found'
    | 'tool_call_not_found'
    | 'interrupt_not_found'
    | 'stream_not_found'
    | 'stream_deleted'
    | 'stream_exists'
    | 'stream_closed'
    | 'stream_type_mismatch'
    | 'stream_conflict'
    | 'stale_producer'
    | 'thread_exists'
    | 'thread_erased'
    | 'thread_busy'
    | 'lane_busy'
    | 'rev_conflict'
    | 'session_changed'
    | 'no_active_run'
    | 'interrupt_ended'
    | 'interrupts_open'
    | 'other_run_active'
    | 'run_ending'
    | 'not_steerable'
    | 'queue_full'
    | 'input_too_large'
    | 'context_too_large'
    | 'token_stale'
    | 'run_active'
    | 'strategy_changed'
    | 'lease_lost'
    | 'step_ahead'
    | 'append_only'
    | 'already_decided'
    | 'not_awaiting_approval'
    | 'budget_exhausted'
    | 'limit_too_small'
    | 'price_unknown'
    | 'rate_limited'
    | 'database_unreachable'
    | 'database_busy'
    | 'database_full'
    | 'database_timeout'
    | 'database_error'
    | 'thread_locked'
    | 'prepared_statement_lost'
    | 'database_outdated'
    | 'database_too_new'
    | 'tenants_not_enforced'
    | 'role_unfit'
    | 'log_replaced'
    | 'lanefold_closed'
    | 'queue_unreachable'
    | 'embedded_postgres_failed'
    | 'not_ready'
    | 'server_busy'
    | 'missing_api_key'
    | 'telemetry_unavailable'
    | 'port_taken'
    | 'listen_failed'
    | 'wait_timeout'
    | 'history_unreadable'
    | 'internal';
  /** What happened, for humans. */
  detail: string;
  /** What to do. */
  hint?: string;
  /** The invalid fields. */
  errors?: {
    path: string;
    message: string;
  }[];
}

/** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
export type Id = string;

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

/** The runs that count. */
export interface AlarmFilter {
  status?: RunStatus;
  /** Runs of this agent. */
  agent?: string;
  /** Runs that this version of their agent took: `agentVersion`. */
  version?: string;
  /**
   * A run with this mark.
   */
  mark?:
    | 'failed'
    | 'ended_early'
    | 'abandoned'
    | 'tool_failed'
    | 'arguments_refused'
    | 'tool_retried'
    | 'model_retried'
    | 'model_fell_back'
    | 'worker_lost'
    | 'cut'
    | 'over_budget'
    | 'cache_missed'
    | 'handoffs_looped'
    | 'model_overridden'
    | 'liked'
    | 'disliked'
    | 'steered'
    | 'steer_dropped'
    | 'prompt_changed'
    | 'context_replaced'
    | 'compacted';
  /**
   * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** Runs of threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** False: runs that ended without an answer. */
  answered?: boolean;
  /** False: only runs that no tool call has started. */
  children?: boolean;
  /** Runs with this model. */
  model?: string;
  /** Failed runs with this error type. */
  errorType?: string;
  /** Runs that spent at least this many tokens. */
  minTokens?: number;
}

export interface Alarm {
  name: Id;
  /** The tenant whose runs it counts. */
  tenant: Id;
  filter: AlarmFilter;
  /** The alarm is raised when more runs than this match. */
  moreThan: number;
  share: number | null;
  /** Runs that were accepted within this time count, in ms. */
  withinMs: number;
  /** How long no more than that must match before the alarm is cleared, in ms. */
  clearAfterMs: number;
  raisedAt: string | null;
  runs: number | null;
  allRuns: number | null;
  countedAt: string | null;
  pausedAt: string | null;
  /**
   * When it was first set.
   */
  createdAt: string;
  /**
   * When it was last changed.
   */
  updatedAt: string;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

export interface AlarmList {
  data: Alarm[];
}

export interface GetAlarmQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
}

export interface SetAlarmQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
}

export interface NewAlarm {
  filter: AlarmFilter;
  /** The alarm is raised when more runs than this match. */
  moreThan?: number;
  /** And when they are more than this share of all runs of the agent, version, model and threads of the filter. */
  share?: number;
  /** Runs that were accepted within this time count, in ms. */
  withinMs?: number;
  /** How long no more than that must match before the alarm is cleared, in ms. */
  clearAfterMs?: number;
}

export interface RemoveAlarmQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
}

export interface PauseAlarmQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
}

export interface ResumeAlarmQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
}

export interface ListAlarmCountsQuery {
  /** The tenant of the alarm; default: the tenant of the key, else `default`. */
  tenant?: Id;
  /**
   * Only counts since then; default: of the last day.
   */
  since?: string;
}

export interface AlarmCount {
  /**
   * When the five minutes began.
   */
  at: string;
  /** The highest count of runs that matched. */
  runs: number;
  allRuns: number | null;
  /** Whether too many runs matched. */
  raised: boolean;
}

export interface AlarmCountList {
  data: AlarmCount[];
}

export interface ListApprovalsQuery {
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
}

/** A run by its thread and id. */
export interface RunRef {
  threadId: Id;
  id: string;
}

/** A tool call that waits for human approval. */
export interface Approval {
  threadId: Id;
  runId: Id;
  agent: string;
  /** The name of the call: its round and index. */
  call: string;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  name: string;
  /** Arguments from the model. */
  arguments: Json;
  /**
   * When the call began to wait.
   */
  requestedAt: string;
  /**
   * When the call is denied if it is still undecided.
   */
  expiresAt: string;
  /** The root of its tree, if a tool call of another run started its run. */
  root: RunRef | null;
}

export interface ApprovalPage {
  data: Approval[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface ExpectedAnswer {
  /** The whole answer; white space does not count. */
  answer?: string;
  /** Phrases that the answer has to contain. */
  contains?: string[];
  /** A tool that the answer has to call. */
  tool?: {
    name: string;
    /** A part of its arguments. */
    arguments?: JsonObject;
  };
  /** What a judge looks at. */
  rubric?: string;
  /** The name of the only scorer that applies. */
  scorer?: string;
}

export interface NewCase {
  threadId: Id;
  dataset: Id & unknown;
  /** The run whose question is asked again. Either this or `llm_call_id`. */
  runId?: Id;
  /** The model call that is made again. */
  llmCallId?: Id;
  expected?: ExpectedAnswer;
  tags?: string[];
  /** A part of the dataset, such as `train` or `test`. */
  split?: string;
  note?: string;
}

export interface Case {
  id: Id;
  tenant: Id;
  threadId: Id;
  dataset: Id & unknown;
  /**
   * `run`: the question of the run is asked again. `call`: the model is asked once more for the answer of the call, with the same context.
   */
  kind: 'run' | 'call';
  /** Null for an imported case. */
  runId: Id | null;
  /** The model call; for a run, its first model call. Null for an imported case. */
  llmCallId: Id | null;
  contextRef: Id;
  /** The last entry of the context before the question or the answer; -1: none. */
  seq: number;
  /** SHA-256 of the messages of the call. */
  contextHash: string;
  /** The first 200 characters of the message that began its run, read from the log; of an imported case, of the last message of the user. Null if there is none, and once the thread is erased. */
  question: string | null;
  agent: string;
  model: string;
  tags: string[];
  split: string | null;
  expected: ExpectedAnswer | null;
  note: string | null;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  keptBy: string;
  /**
   * When it was kept.
   */
  createdAt: string;
  /**
   * When it was last changed.
   */
  updatedAt: string;
  erasedAt: string | null;
}

export interface KeepRuns {
  /** The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
  filter: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /**
     * A run with this mark.
     */
    mark?:
      | 'failed'
      | 'ended_early'
      | 'abandoned'
      | 'tool_failed'
      | 'arguments_refused'
      | 'tool_retried'
      | 'model_retried'
      | 'model_fell_back'
      | 'worker_lost'
      | 'cut'
      | 'over_budget'
      | 'cache_missed'
      | 'handoffs_looped'
      | 'model_overridden'
      | 'liked'
      | 'disliked'
      | 'steered'
      | 'steer_dropped'
      | 'prompt_changed'
      | 'context_replaced'
      | 'compacted';
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: Id;
    /** Runs of threads whose metadata contains this JSON object. */
    metadata?: JsonObject;
    /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
    text?: string;
    /** False: runs that ended without an answer. */
    answered?: boolean;
    /** False: only runs that no tool call has started. */
    children?: boolean;
    /** Runs with this model. */
    model?: string;
    /** Failed runs with this error type. */
    errorType?: string;
    /** Runs that spent at least this many tokens. */
    minTokens?: number;
    /**
     * Runs accepted at this time or later.
     */
    createdAfter?: string;
    /**
     * Runs accepted before this time.
     */
    createdBefore?: string;
  };
  /** A preview: counts the runs, shows the first few, and changes nothing. */
  dryRun?: boolean;
  /** Maximum number of runs to act on; default 100. */
  limit?: number;
  /** The `next_after` of the previous page. */
  after?: string;
  dataset: Id & unknown;
  tags?: string[];
  /** A part of the dataset, such as `train` or `test`. */
  split?: string;
  note?: string;
}

export interface BulkReceipt {
  dryRun: boolean;
  /**
   * The moment of the preview: pass it in the filter of the act.
   */
  createdBefore: string;
  /** How many of the selected runs the act concerns; counted up to 10,000. */
  matched: number;
  /** What became of each run; in a preview, the first few. */
  runs: {
    threadId: Id;
    id: string;
    agent: string;
    /** The status in which the run was found. */
    status: RunStatus;
    /**
     * When the run was accepted.
     */
    createdAt: string;
    /** `unchanged`: it was done before, or there was nothing to do. Null in a preview. */
    outcome: ('done' | 'unchanged' | 'refused') | null;
    /** The run that repeats it. */
    started?: Id;
    /** The case that it is kept as. */
    caseId?: Id;
    /** Why it was refused: the error that the act on it alone would have had. */
    error?: {
      code: string;
      message: string;
    };
  }[];
  /** How many runs are left to act on; counted up to 10,000. */
  left: number;
  /** Pass it as `after` to act on the runs that are left; null: none are. */
  nextAfter: string | null;
}

export interface ListCasesQuery {
  /** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
  dataset?: Id;
  /** Only cases with this tag. */
  tag?: string;
  /** Only cases of this part. */
  split?: string;
  /** Only cases of this thread. */
  threadId?: Id;
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
}

export interface CaseList {
  data: Case[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface CaseChanges {
  expected?: ExpectedAnswer | null;
  tags?: string[];
  split?: string | null;
  note?: string | null;
}

export interface Dataset {
  tenant: Id;
  dataset: Id;
  /** How many cases it has. */
  cases: number;
  /** How many of these cases have an erased thread. */
  erased: number;
  /**
   * When a case last changed.
   */
  updatedAt: string;
}

export interface DatasetList {
  data: Dataset[];
}

/** A named context of a thread. */
export interface Lane {
  contextRef: Id;
  /** `seq` of the anchor, the latest replace operation; -1: none. */
  anchorSeq: number;
  /** `seq` of the last entry of the lane. */
  lastSeq: number;
  /** Number of tool calls of the last message that have no result yet. */
  openCalls: number;
}

export interface LaneList {
  data: Lane[];
}

/** How the context is cut before a model call: a preset, or fields. */
export type ContextPolicy =
  | ('window' | 'short_context' | 'long_context' | 'tool_focused')
  | {
      /** Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit. */
      maxInputTokens?: number | 'window' | null;
      /** Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000. */
      reserveOutputTokens?: number;
      /** Maximum messages besides the system prompt; 0: no limit. */
      maxMessages?: number;
      /** Newest turns to keep whole, even over budget; default 3. */
      keepLastTurns?: number;
      /**
       * `use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.
       */
      summarization?: 'none' | 'use_existing' | 'request_new';
      /** Share of the budget at which a run requests a compaction of its lane when it ends; default: none. */
      compactAt?: number;
      summaryRole?: 'system' | 'user';
      includeKinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
      systemPrompt?: string;
      /** `heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server. */
      tokenEstimator?: string;
      projector?: string;
    };

export interface GetContextQuery {
  /** As of this entry, inclusive; a number past the last entry means the last entry. */
  atSeq?: number;
  /** Maximum number of items; default 10000. */
  limit?: number;
  /** Context policy to apply: a preset, or a JSON object of fields. */
  policy?: ContextPolicy;
  /** Show what a call would send to this model, given its window and tokenizer. Default: the model of the agent. */
  model?: string;
  /** Show what a call of this agent would send, given its policy, tools and settings. Default: the agent of the lane’s latest run. */
  agent?: string;
  /** Ignore cuts of earlier calls: show what fits the budget, not what the next call sends. */
  fullBudget?: boolean;
  /** Add why each message is sent or left out. Default policy: the thread’s, else the agent’s. */
  explain?: boolean;
}

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** `{type: "text", text}` or `{type: "file", media_type, data | url}`; `data` is base64. OpenAI’s `image_url` and `file` parts and the AI SDK’s `image` and `file` parts are accepted and stored as `file`. */
export type ContentPart = JsonObject;

export type Content = string | ContentPart[];

export interface ToolCall {
  id: string;
  name: string;
  /** Any JSON. */
  arguments?: Json;
  /** The provider’s original string, byte for byte. */
  arguments_raw?: string;
  /** Metadata of the provider. */
  provider_metadata?: JsonObject;
}

/** A row of the view `lane_context`. */
export interface ContextMessage {
  /** Position in the context, from 0. */
  ordinal: number;
  /** The entry it comes from. */
  seq: number;
  /** `seq` of the anchor of the lane; -1: none. */
  anchor_seq: number;
  role: Role;
  content: Content;
  tool_calls: ToolCall[] | null;
  tool_call_id: string | null;
  name: string | null;
  thinking: string | null;
  /** Reasoning data of the provider. */
  reasoning_details: Json;
  /** Metadata of the provider. */
  provider_metadata: Json;
  run_id: string | null;
  request_id: string | null;
  /** Provenance. */
  refs: Json;
}

/** The result of applying a policy to a context. */
export interface ProjectionMeta {
  /** Tokens of the messages, including the system prompt. */
  estimatedTokens: number;
  /** Tokens of the tools offered; 0 if this server does not know the agent. */
  toolTokens: number;
  /** Maximum tokens of the request; null: no limit. */
  budget: number | null;
  /** The context window of the model; null: unknown. */
  window: number | null;
  /** Whether the budget or `max_messages` left messages out. */
  truncated: boolean;
  /** Messages sent, without the system prompt. */
  entriesIncluded: number;
  /** Messages of the lane, without the system prompt. */
  entriesTotal: number;
  summaryUsed: boolean;
  /** Whether the messages that must be kept exceed the budget. */
  overBudget: boolean;
  estimator: {
    name: string;
    /** The factor by which the heuristic is multiplied. */
    ratio: number;
    /** Mean error of `calibrated`, as a share. */
    error: number | null;
    /** Number of model calls of this process that `calibrated` has learnt from. */
    calls: number | null;
    /** Why the heuristic was used instead. */
    fallback: string | null;
  };
}

/** Why a message is sent or left out, and its tokens. */
export interface ExplainedMessage {
  /** Position in the context before the policy, from 0. */
  ordinal: number;
  /** The entry of the message; -1 for the prompt of a policy. */
  seq: number;
  role: string;
  kind: 'system' | 'summary' | 'message' | 'tool_group';
  /** Tokens of the message. */
  tokens: number;
  included: boolean;
  /** Sent: system_prompt, summary, durable, last_turns, question, fits, projector. Left out: kind, summarization, cut_before, budget, max_messages, before_question, not_chosen. */
  reason: string;
  /** The message itself, if it is left out. */
  message?: JsonObject;
}

/** What the model sees on a lane: the system prompt, the messages of the anchor, and those after it. */
export interface Context {
  threadId: Id;
  contextRef: Id;
  /** The entry as of which the context is shown; null: now. */
  atSeq: number | null;
  messages: ContextMessage[];
  /** With `policy` or `explain`: the policy applied, with its defaults filled in. */
  policy?: JsonObject;
  meta?: ProjectionMeta;
  explain?: ExplainedMessage[];
}

export interface Compact {
  /** The lane; default: the active lane. */
  contextRef?: Id;
  /** Entries to summarise, inclusive. Default: all but the newest turns. */
  range?: {
    fromSeq: number;
    toSeq: number;
  };
  /** How many of the newest turns to keep; default: `keep_last_turns` of the context policy. */
  keepTurns?: number;
  /** Default: the agent of the lane’s latest run. */
  agent?: string;
  /** Default: the model of the lane’s latest run. */
  model?: string;
}

/** The run was accepted and will end, even if processes crash. */
export interface RunReceipt {
  threadId: Id;
  id: string;
  requestId: string;
  status: RunStatus;
  duplicate: boolean;
}

/** A message as a model is sent it. */
export interface SentMessage {
  role: Role;
  content: Content;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
  thinking?: string;
  reasoning_details?: Json;
  /** Metadata of the provider. */
  provider_metadata?: JsonObject;
}

/** Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the input, `reasoning_tokens`, part of the output, and its own. Where it does not count, Lanefold estimates: `estimated_tokens` says how many of the total are estimates. */
export type Usage = {
  /** Tokens sent. */
  input_tokens: number;
  /** Tokens received. */
  output_tokens: number;
  /** Their sum. */
  total_tokens: number;
} & {
  [key: string]: number;
};

export interface Tool {
  name: string;
  description: string | null;
  /** JSON Schema. */
  inputSchema: JsonObject;
}

/** One answered model call: exactly what was sent, and what came back. */
export interface ModelCall {
  threadId: Id;
  runId: Id;
  llmCallId: Id;
  contextRef: Id;
  agent: string;
  model: string;
  /** Size of the model’s context window in tokens; null: unknown. */
  window: number | null;
  /** Iteration of the run, from 1. */
  iteration: number;
  /** The entry of the answer. */
  seq: number;
  /** The messages as they were sent, in canonical form. */
  messages: SentMessage[];
  /** For each message, the `seq` of its entry; null for instructions that are never stored. */
  sources: (number | null)[];
  /** The hash that the worker recorded when it sent the messages: SHA-256, in hex, of the canonical JSON (RFC 8785) of each, followed by a newline. */
  contextHash: string;
  /** Whether the messages have this hash: if so, they are byte for byte what was sent. */
  verified: boolean;
  /**
   * Why the messages do not have the hash: a request transformer changed them, this server does not know the output contract, or neither explains the mismatch; null if they have it.
   */
  unverifiedBecause: 'transformed' | 'output_contract' | 'mismatch' | null;
  /** The answer. */
  answer: JsonObject;
  /** Provenance of the answer. */
  refs: JsonObject;
  /** Null if the trace was deleted. */
  usage: Usage | null;
  finishReason: string | null;
  /**
   * When the call started; null if the trace was deleted.
   */
  startedAt: string | null;
  /**
   * When the answer was committed.
   */
  completedAt: string;
  durationMs: number | null;
  /** Failed or lost attempts before this answer. */
  failedAttempts: {
    kind: string;
    /**
     * When the failure was committed.
     */
    at: string;
    /** Depends on the kind. */
    data: JsonObject;
  }[];
  /** The tools offered, as this server defines the agent; null if it does not know the agent. */
  tools: Tool[] | null;
  /** Where and why the messages stop matching the previous call on the lane; null if they begin with everything it sent, or if the log cannot tell. */
  prefixBreak: {
    /** Position of the first message that differs, from 0. */
    position: number;
    /** The entry that caused it: the new prompt, the anchor, or the answer whose `refs` say what the policy left out. */
    seq: number;
    cause: 'prompt' | 'anchor' | 'policy' | 'fallback';
  } | null;
  /** The previous call on the lane. */
  previousCallId: Id | null;
  /** The next call on the lane. */
  nextCallId: Id | null;
}

export interface Message {
  role: 'user' | 'assistant' | 'tool';
  content: Content;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
  thinking?: string;
  reasoning_details?: Json;
  /** Metadata of the provider. */
  provider_metadata?: JsonObject;
}

/** Replaces the context of a lane. */
export interface Replace {
  type: 'replace';
  resultContext: {
    /** Your own name for the context, kept in the log. */
    id?: Id;
    /** Absent: the lane keeps its system prompt. null: no system prompt. */
    systemPrompt?: string | null;
    entries: Message[];
  };
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  /** The entry the operation is based on; recorded only. */
  baseSeq?: number;
  /** Your own data; recorded only. */
  meta?: JsonObject;
}

/** Makes a lane the active one. */
export interface Switch {
  type: 'switch';
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  /** The entry the operation is based on; recorded only. */
  baseSeq?: number;
  /** Your own data; recorded only. */
  meta?: JsonObject;
}

export interface ContextOperation {
  /** An operation with this id is applied at most once per thread. You can send the id as `Idempotency-Key` instead. */
  opId?: Id;
  /** The lane. Required for a switch; for a replace, default: the active lane. */
  contextRef?: Id;
  operation: Replace | Switch;
  /** Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
  expectedRev?: number;
  /** Add flagged error results for tool calls that have no result. */
  repair?: boolean;
}

export interface OperationReceipt {
  opId: Id;
  /**
   * deferred: a run is active; the operation is applied when it ends.
   */
  status: 'applied' | 'deferred' | 'duplicate' | 'stale';
  opStatus: 'pending' | 'applied' | 'superseded' | 'stale';
  /** The entry of the operation, once applied. */
  seq: number | null;
}

export interface LaneChange {
  /** An operation with this id is applied at most once per thread. You can send the id as `Idempotency-Key` instead. */
  opId?: Id;
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  /** Your own data; recorded only. */
  meta?: JsonObject;
  /** Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
  expectedRev?: number;
}

export interface NewEvent {
  /** Text or JSON, at most 262,144 bytes; default null. */
  payload?: Json;
  /** How long the event is kept for calls that begin to wait later; default 0. */
  keepMs?: number;
}

export interface SentEvent {
  event: Id;
  /** The calls whose waits it ended. */
  resolved: {
    threadId: Id;
    runId: Id;
    /** The name of the call: its round and index. */
    call: string;
    /** Tool round of the run, from 1. */
    round: number;
    /** Position in the round, from 0. */
    index: number;
  }[];
  /** Whether it is kept for later waits. */
  kept: boolean;
}

export interface NewFeedback {
  /** The message of the assistant, by its `seq`. */
  answerSeq?: number;
  /** Instead of `answer_seq`: the last answer of this run. */
  runId?: Id;
  /**
   * Without rating and comment, the person takes back an earlier opinion.
   */
  rating?: 'up' | 'down';
  comment?: string;
  /** The person. The last word of each person about an answer counts. */
  by?: string;
  /** The idempotency key. */
  opId?: Id;
}

export interface FeedbackReceipt {
  /** The entry with the feedback. */
  seq: number;
  /** The message of the assistant. */
  answerSeq: number;
  runId: Id | null;
  /** Whether the key was used before: then nothing was written. */
  duplicate: boolean;
}

export interface ListFeedbackQuery {
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
  /** Only of this thread. */
  threadId?: Id;
  /** Only on answers of this run; with `thread_id`. */
  runId?: Id;
  /** Only on answers of this agent. */
  agent?: string;
  rating?: 'up' | 'down';
  /** true: only the last word of each person about an answer. */
  latest?: boolean;
}

export interface GivenFeedback {
  threadId: Id;
  /** The entry with the feedback. */
  seq: number;
  /** The message of the assistant. */
  answerSeq: number;
  runId: Id | null;
  /** The lane of the answer. */
  contextRef: Id;
  rating: ('up' | 'down') | null;
  comment: string | null;
  by: string | null;
  /**
   * When it was given.
   */
  at: string;
  /** Whether it is the last word of this person about this answer. */
  latest: boolean;
  agent: string | null;
  agentVersion: string | null;
}

export interface FeedbackPage {
  data: GivenFeedback[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface NewBrowserToken {
  threadId: Id;
  /** Only this run of the thread. */
  runId?: Id;
  /**
   * `read`: see the thread or run. `chat`: also ask, steer and cancel. `approve`: also approve and deny tool calls.
   */
  access: 'read' | 'chat' | 'approve';
  /** Only runs of these agents, in threads where no other agent has run. */
  agents?: string[];
  /** Default: 15 minutes; at most one day. */
  expiresInMs?: number;
}

export interface BrowserToken {
  /** A Bearer token. */
  token: string;
  /**
   * When it expires.
   */
  expiresAt: string;
}

export interface ListLimitHoldersQuery {
  /** Only of this key of the limit. */
  key?: string;
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 100. */
  limit?: number;
}

/** A run that holds a slot of a limit, or has reserved some of it for a call. */
export interface LimitHolder {
  name: Id;
  /** The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
  tenant: Id | null;
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
   */
  kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that the run holds. For `money` in US dollars. */
  amount: number;
  threadId: Id;
  runId: Id;
  agent: string;
  status: RunStatus;
  /** The worker that executes it; null: none. */
  workerId: string | null;
  /**
   * When the run started; before its first claim, when the run became ready to start.
   */
  since: string;
}

export interface LimitHolderPage {
  data: LimitHolder[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface ListLimitsQuery {
  /** Only limits with this name. */
  name?: Id;
  /** The `next_after` of a limit: only that limit, with its next keys. */
  after?: string;
  /** Keys of each limit; default 100. */
  limit?: number;
}

export interface LimitUse {
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that applies to this key. */
  amount: number;
  /** Used in the interval, including `reserved`. For `money` in US dollars. */
  used: number;
  /** Taken by calls that have not ended. */
  reserved: number;
  /** Runs that wait for it. */
  waiting: number;
  /** All usage so far. */
  total: number;
  resetsAt: string | null;
  noticedAt: string | null;
  drainedUntil: string | null;
  /** Used in each 1/32 of a sliding interval, oldest first; null for other limits. */
  slices: number[] | null;
  /** Number of waiting runs by value of `share_by`, for the ten values with the most waiting runs. */
  waitingBy: {
    [key: string]: number;
  } | null;
  /** Pass it as `after` to list the keys of the limit after this one. */
  cursor: string;
}

export interface UsedLimit {
  name: Id;
  /** The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
  tenant: Id | null;
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
   */
  kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
  /** The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places. */
  amount: number;
  /** The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the `limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: all runs together. */
  scope?: {
    [key: string]: string;
  };
  /** Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the alphabetical order of the dimensions, joined by `/`. */
  amounts?: {
    [key: string]: number;
  };
  /**
   * Which tokens count, for the kind `tokens`; default `total`.
   */
  tokens?: 'input' | 'output' | 'total';
  /** The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or `calendar`. */
  per?: ('second' | 'minute' | 'hour' | 'day') | number;
  /**
   * The interval starts with each day, week (on Monday) or month.
   */
  calendar?: 'day' | 'week' | 'month';
  /** IANA time zone of `calendar`; default `UTC`. */
  timeZone?: string;
  /** The dimension whose values take turns when runs wait; default: the oldest run goes first. */
  shareBy?: string;
  /** How many turns a value of `share_by` gets while another one gets one, from 0.001 to 1,000; default 1. */
  shares?: {
    [key: string]: number;
  };
  /** What only runs with this value of `share_by` may use: for all others, the limit is lower by that much, and they do not delay them. */
  reserve?: {
    [key: string]: number;
  };
  /**
   * Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for `requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.
   */
  onExhausted?: 'wait' | 'end' | 'notice';
  /**
   * When it was first set.
   */
  createdAt: string;
  /**
   * When it was last changed.
   */
  updatedAt: string;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
  /** First the keys that runs wait for, then the others, each in the order of the keys. */
  usage: LimitUse[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface LimitList {
  data: UsedLimit[];
}

/** Models of which each stands in for those before it. */
export interface ModelFallback {
  /** The models, in the order in which they are tried. */
  try: string[];
  /** The failures of the first model after which the next one is asked; default: all but `limit`. */
  on?: ('overloaded' | 'rate_limited' | 'timeout' | 'auth' | 'context_too_long' | 'limit')[];
  /** How long a streamed answer may take to begin. */
  firstTokenMs?: number;
  /** How long one attempt at one model may take. */
  attemptMs?: number;
  /** Which model the next call begins with: `run` (default), in this run the one that answered last; `thread`, also in later runs of the lane; false, the first. */
  sticky?: ('run' | 'thread') | false;
}

/** Settings of model calls, named as in the AI SDK. A model ignores those it does not support. */
export interface Settings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  stopSequences?: string[];
  reasoning?: 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** Keyed by provider: `{"openai": {…}}`; passed on unchanged. */
  providerOptions?: JsonObject;
  /** HTTP headers of the model calls. */
  headers?: {
    [key: string]: string;
  };
}

/** Requires the answer to be a JSON object, which becomes the result. `raw`: text. */
export type OutputContract =
  | 'raw'
  | {
      mode: 'raw';
    }
  | {
      /** The JSON Schema of an object with properties. */
      schema: JsonObject;
      name?: string;
      description?: string;
      /**
       * What to do with an answer that violates the contract; default `repair`.
       */
      mode?: 'repair' | 'error';
      /** Maximum repairs of the answer; default 1. Values above 3 count as 3. */
      maxRepairs?: number;
    };

export interface NewRun {
  agent: string;
  input: Content;
  /** The lane; default: the thread’s active lane. */
  contextRef?: Id;
  /** A second request with this id returns the same run. You can send the id as `Idempotency-Key` instead. */
  requestId?: Id;
  /**
   * If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
  delayMs?: number;
  /** The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
  ttlMs?: number;
  /** Stored in the refs of the user message. */
  extraRefs?: JsonObject;
  /** Create the thread if it does not exist. */
  createThread?: boolean;
  /** The version of the agent: a label or an id. Default: what its rollout chooses. */
  version?: string;
  /** Overrides the model of the agent, with those that stand in for it. */
  model?: string | string[] | ModelFallback;
  /** Overrides the strategy of the agent. */
  strategy?: string;
  /** Options of the strategy, merged over the agent’s if it has the same strategy. */
  strategyOptions?: JsonObject;
  /** Names of the tools to use instead of the tools of agent and thread. */
  tools?: string[];
  /** Restricts the available tools to these; an empty array allows none. */
  allowedTools?: string[];
  /** Merged over the tool context of agent and thread. */
  toolContext?: JsonObject;
  /** Overrides the settings of the agent, key by key. */
  settings?: Settings;
  /** HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
  headers?: {
    [key: string]: string;
  };
  /** Name of the request transformer to use instead of the agent’s. */
  requestTransformer?: string;
  /** Replaces the context policy of agent and thread. */
  contextPolicy?: ContextPolicy;
  /** Maximum number of iterations. */
  maxIterations?: number;
  /** Tokens of input and output after which the run ends with the best result it has. */
  maxTotalTokens?: number;
  /** What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
  maxCost?: number;
  /** Time after its start at which the run ends with the best result it has. */
  maxDurationMs?: number;
  /** Whether the model streams its answer. */
  streaming?: boolean;
  /** How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
  idleTimeoutMs?: number;
  output?: OutputContract;
  /** Time limit of one tool attempt. */
  toolTimeoutMs?: number;
  /** Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
  priority?: number;
  /** Values that limits may apply to, by dimension. */
  limitKeys?: {
    [key: string]: string;
  };
  /**
   * rewind: after a failure, the lane goes back to its state before the run.
   */
  onFailure?: 'keep' | 'rewind';
}

export interface BatchRun {
  agent: string;
  input: Content;
  /** The lane; default: the thread’s active lane. */
  contextRef?: Id;
  /** A second request with this id returns the same run. You can send the id as `Idempotency-Key` instead. */
  requestId?: Id;
  /**
   * If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
  delayMs?: number;
  /** The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
  ttlMs?: number;
  /** Stored in the refs of the user message. */
  extraRefs?: JsonObject;
  /** Create the thread if it does not exist. */
  createThread?: boolean;
  /** The version of the agent: a label or an id. Default: what its rollout chooses. */
  version?: string;
  /** Overrides the model of the agent, with those that stand in for it. */
  model?: string | string[] | ModelFallback;
  /** Overrides the strategy of the agent. */
  strategy?: string;
  /** Options of the strategy, merged over the agent’s if it has the same strategy. */
  strategyOptions?: JsonObject;
  /** Names of the tools to use instead of the tools of agent and thread. */
  tools?: string[];
  /** Restricts the available tools to these; an empty array allows none. */
  allowedTools?: string[];
  /** Merged over the tool context of agent and thread. */
  toolContext?: JsonObject;
  /** Overrides the settings of the agent, key by key. */
  settings?: Settings;
  /** HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
  headers?: {
    [key: string]: string;
  };
  /** Name of the request transformer to use instead of the agent’s. */
  requestTransformer?: string;
  /** Replaces the context policy of agent and thread. */
  contextPolicy?: ContextPolicy;
  /** Maximum number of iterations. */
  maxIterations?: number;
  /** Tokens of input and output after which the run ends with the best result it has. */
  maxTotalTokens?: number;
  /** What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
  maxCost?: number;
  /** Time after its start at which the run ends with the best result it has. */
  maxDurationMs?: number;
  /** Whether the model streams its answer. */
  streaming?: boolean;
  /** How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
  idleTimeoutMs?: number;
  output?: OutputContract;
  /** Time limit of one tool attempt. */
  toolTimeoutMs?: number;
  /** Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
  priority?: number;
  /** Values that limits may apply to, by dimension. */
  limitKeys?: {
    [key: string]: string;
  };
  /**
   * rewind: after a failure, the lane goes back to its state before the run.
   */
  onFailure?: 'keep' | 'rewind';
  /** Default: a new thread. */
  threadId?: Id;
}

export interface NewRuns {
  runs: BatchRun[];
}

/** One answer per run, in the order of the request. */
export interface RunReceipts {
  data: {
    run?: RunReceipt;
    /** Why the run was not accepted. */
    problem?: Problem;
  }[];
}

export interface ListAllRunsQuery {
  status?: RunStatus;
  /** Runs of this agent. */
  agent?: string;
  /** Runs that this version of their agent took: `agentVersion`. */
  version?: string;
  /**
   * A run with this mark.
   */
  mark?:
    | 'failed'
    | 'ended_early'
    | 'abandoned'
    | 'tool_failed'
    | 'arguments_refused'
    | 'tool_retried'
    | 'model_retried'
    | 'model_fell_back'
    | 'worker_lost'
    | 'cut'
    | 'over_budget'
    | 'cache_missed'
    | 'handoffs_looped'
    | 'model_overridden'
    | 'liked'
    | 'disliked'
    | 'steered'
    | 'steer_dropped'
    | 'prompt_changed'
    | 'context_replaced'
    | 'compacted';
  /**
   * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** Runs of threads of this tenant. */
  tenantId?: Id;
  /** Runs of threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** False: runs that ended without an answer. */
  answered?: boolean;
  /** False: only runs that no tool call has started. */
  children?: boolean;
  /** Runs with this model. */
  model?: string;
  /** Failed runs with this error type. */
  errorType?: string;
  /** Runs that spent at least this many tokens. */
  minTokens?: number;
  /**
   * Runs accepted at this time or later.
   */
  createdAfter?: string;
  /**
   * Runs accepted before this time.
   */
  createdBefore?: string;
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
}

/** A tool call that waits. */
export interface RunWait {
  /** The name of the call: its round and index. */
  call: string;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'approval' | 'event' | 'time' | 'run';
  /** The event it waits for. */
  event: Id | null;
  /** The run it waits for. */
  run: RunRef | null;
  /**
   * Since when it waits.
   */
  since: string;
  /**
   * When it ends by itself; null: never.
   */
  until: string | null;
}

/** The number of marks of one kind, and the place of the first mark. */
export interface MarkCount {
  runId: Id;
  /** `failed`, `ended_early`, `abandoned`, `tool_failed`, `arguments_refused`, `tool_retried`, `model_retried`, `model_fell_back`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `handoffs_looped`, `model_overridden`, `liked`, `disliked`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted` or `waiting`. More kinds may be added. */
  kind: string;
  /** The entry to look at; null: the mark concerns the whole run. */
  seq: number | null;
  /** The model call that shows more, if any. */
  llmCallId: Id | null;
  /** Number of marks of this kind. */
  count: number;
}

/** A run as lists show it. */
export interface ListedRun {
  threadId: Id;
  id: string;
  requestId: string;
  agent: string;
  /** The version of the agent on the worker that took the run last; null before a worker has taken the run. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: Id;
  status: RunStatus;
  /** Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
  terminationReason: string | null;
  /** Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
  truncated: boolean;
  /** Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
  answered: boolean | null;
  /** Iterations so far. */
  iteration: number;
  /** Commits so far. */
  step: number;
  /** Null if none are known. */
  usage: Usage | null;
  /** The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
  otherUsage: {
    [key: string]: Usage;
  } | null;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** The run that this one repeats. */
  retryOf: Id | null;
  /** The run whose checkpoint token started this one. */
  resumedFrom: Id | null;
  /** Tool calls of a suspended run that wait for approval; approve or deny each. */
  approvals: {
    /** The name of the call: its round and index. */
    call: string;
    /** Tool round of the run, from 1. */
    round: number;
    /** Position in the round, from 0. */
    index: number;
    /** Id assigned by the provider; not necessarily unique. */
    id: string;
    name: string;
    /** Arguments from the model. */
    arguments: Json;
  }[];
  /** Everything that a suspended run waits for, approvals included. */
  waits: RunWait[];
  /** The run whose tool call started it. */
  parent: RunRef | null;
  /**
   * When the next wait ends by itself.
   */
  suspendedUntil: string | null;
  /**
   * Since when the run has been waiting for a worker that knows its agent and strategy.
   */
  agentUnknownSince: string | null;
  /** Priority of the job: 0 goes first, then lower numbers before higher ones. */
  priority: number;
  /**
   * No worker starts the run before this time.
   */
  startAt: string | null;
  /**
   * When the run fails with `expired` if no worker has started it.
   */
  expiresAt: string | null;
  /** The limit that a queued run waits for, or the model whose circuit is open. */
  limitedBy: {
    /** The name of the limit. */
    limit?: string;
    /** The model whose circuit is open, if it waits for that. */
    circuit?: string;
    /**
     * Since when it waits.
     */
    since: string;
    /** The tenant that set it; absent: the operator. */
    owner?: Id;
    /** The values of its scope that have an amount of their own. */
    key?: string;
    /**
     * When it may let the run continue; absent if only the end of another run can tell.
     */
    until?: string;
  } | null;
  /** The version of its agent that the run waits for, if workers know the agent but not this version. */
  unknownVersion: string | null;
  /** The strategy that the run waits for, if workers know its agent but not the strategy. */
  unknownStrategy: string | null;
  /** The tools that the run waits for, if workers know its agent but not all of these tools. */
  unknownTools: string[] | null;
  /**
   * When the run was accepted.
   */
  createdAt: string;
  /**
   * When a worker first claimed it.
   */
  startedAt: string | null;
  /**
   * When the run ended.
   */
  finishedAt: string | null;
  durationMs: number | null;
  /** The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
  result: Json;
  /** The first 200 characters of the message that started the run; null if none did, as for a compaction. */
  question: string | null;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** Marks of the run, counted by kind. A run that waits has its mark only in its thread. */
  marks: MarkCount[];
  /** How many runs its tool calls have started. */
  children: number;
}

export interface RunPage {
  data: ListedRun[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface CountRunsQuery {
  status?: RunStatus;
  /** Runs of this agent. */
  agent?: string;
  /** Runs that this version of their agent took: `agentVersion`. */
  version?: string;
  /**
   * A run with this mark.
   */
  mark?:
    | 'failed'
    | 'ended_early'
    | 'abandoned'
    | 'tool_failed'
    | 'arguments_refused'
    | 'tool_retried'
    | 'model_retried'
    | 'model_fell_back'
    | 'worker_lost'
    | 'cut'
    | 'over_budget'
    | 'cache_missed'
    | 'handoffs_looped'
    | 'model_overridden'
    | 'liked'
    | 'disliked'
    | 'steered'
    | 'steer_dropped'
    | 'prompt_changed'
    | 'context_replaced'
    | 'compacted';
  /**
   * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** Runs of threads of this tenant. */
  tenantId?: Id;
  /** Runs of threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** False: runs that ended without an answer. */
  answered?: boolean;
  /** False: only runs that no tool call has started. */
  children?: boolean;
  /** Runs with this model. */
  model?: string;
  /** Failed runs with this error type. */
  errorType?: string;
  /** Runs that spent at least this many tokens. */
  minTokens?: number;
  /**
   * Runs accepted at this time or later.
   */
  createdAfter?: string;
  /**
   * Runs accepted before this time.
   */
  createdBefore?: string;
}

/** How many runs a filter finds, the most frequent first. */
export interface RunCounts {
  /**
   * All runs accepted since then were looked at; null: all runs.
   */
  since: string | null;
  /** Runs found. */
  runs: number;
  /** How many of them have each mark; 0: only runs accepted before `since` have it. */
  marks: {
    mark: string;
    runs: number;
  }[];
  statuses: {
    status: RunStatus;
    runs: number;
  }[];
  /** By agent and version. */
  agents: {
    agent: string;
    version: string | null;
    runs: number;
  }[];
}

export interface ModelCost {
  model: string;
  /** Tokens of input, including tokens from the provider’s cache. */
  inputTokens: number;
  /** Tokens of output. */
  outputTokens: number;
  /** Tokens of input read from the cache. */
  cachedTokens: number;
  /** Tokens of input written to the cache. */
  writtenTokens: number;
  /** In US dollars; null if the price is unknown. */
  cost: number | null;
  /** The price that was used: the server’s own, or the list price of the day the run was accepted. */
  price: ('own' | 'list') | null;
  /** The list price per million tokens, without rates that depend on the length of a request. */
  perMillion: {
    input?: number;
    output?: number;
    cacheRead?: number;
    cacheWrite?: number;
  } | null;
}

export interface RunToolCall {
  /** The name of the call: its round and index. */
  call: string;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** Id assigned by the provider; not necessarily unique. */
  id: string;
  name: string;
  /** Arguments from the model. */
  arguments: Json;
  status: string;
  /** The result as the model sees it; null while the call is open. */
  result: Json;
  /** Number of executions. */
  attempts: number;
  durationMs: number | null;
}

/** A run with its current phase and tool calls. */
export interface RunSnapshot<RESULT = Json> {
  threadId: Id;
  id: string;
  requestId: string;
  agent: string;
  /** The version of the agent on the worker that took the run last; null before a worker has taken the run. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: Id;
  status: RunStatus;
  /** Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
  terminationReason: string | null;
  /** Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
  truncated: boolean;
  /** Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
  answered: boolean | null;
  /** Iterations so far. */
  iteration: number;
  /** Commits so far. */
  step: number;
  /** Null if none are known. */
  usage: Usage | null;
  /** The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
  otherUsage: {
    [key: string]: Usage;
  } | null;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** The run that this one repeats. */
  retryOf: Id | null;
  /** The run whose checkpoint token started this one. */
  resumedFrom: Id | null;
  /** Tool calls of a suspended run that wait for approval; approve or deny each. */
  approvals: {
    /** The name of the call: its round and index. */
    call: string;
    /** Tool round of the run, from 1. */
    round: number;
    /** Position in the round, from 0. */
    index: number;
    /** Id assigned by the provider; not necessarily unique. */
    id: string;
    name: string;
    /** Arguments from the model. */
    arguments: Json;
  }[];
  /** Everything that a suspended run waits for, approvals included. */
  waits: RunWait[];
  /** The run whose tool call started it. */
  parent: RunRef | null;
  /**
   * When the next wait ends by itself.
   */
  suspendedUntil: string | null;
  /**
   * Since when the run has been waiting for a worker that knows its agent and strategy.
   */
  agentUnknownSince: string | null;
  /** Priority of the job: 0 goes first, then lower numbers before higher ones. */
  priority: number;
  /**
   * No worker starts the run before this time.
   */
  startAt: string | null;
  /**
   * When the run fails with `expired` if no worker has started it.
   */
  expiresAt: string | null;
  /** The limit that a queued run waits for, or the model whose circuit is open. */
  limitedBy: {
    /** The name of the limit. */
    limit?: string;
    /** The model whose circuit is open, if it waits for that. */
    circuit?: string;
    /**
     * Since when it waits.
     */
    since: string;
    /** The tenant that set it; absent: the operator. */
    owner?: Id;
    /** The values of its scope that have an amount of their own. */
    key?: string;
    /**
     * When it may let the run continue; absent if only the end of another run can tell.
     */
    until?: string;
  } | null;
  /** The version of its agent that the run waits for, if workers know the agent but not this version. */
  unknownVersion: string | null;
  /** The strategy that the run waits for, if workers know its agent but not the strategy. */
  unknownStrategy: string | null;
  /** The tools that the run waits for, if workers know its agent but not all of these tools. */
  unknownTools: string[] | null;
  /**
   * When the run was accepted.
   */
  createdAt: string;
  /**
   * When a worker first claimed it.
   */
  startedAt: string | null;
  /**
   * When the run ended.
   */
  finishedAt: string | null;
  durationMs: number | null;
  /** The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
  result: RESULT | null;
  /** The first 200 characters of the message that started the run; null if none did, as for a compaction. */
  question: string | null;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** What was spent on each model, with the price used. */
  costByModel: ModelCost[];
  /** What the strategy `adaptive` chose, and why. */
  selection: {
    strategy: string;
    score: number;
    taskType: string;
  } | null;
  /** What the run is waiting for: `llm`, `tools` or `output`. */
  phase: string | null;
  /** The current model call, or otherwise the last known model call. */
  callId: string | null;
  /** Maximum iterations; null if this server does not know the agent. */
  maxIterations: number | null;
  /** Names of the tools; null if this server does not know the agent. */
  tools: string[] | null;
  toolCalls: RunToolCall[];
  /** Inputs the run has not read yet. */
  queuedInputs: number;
  /** The worker that holds the run, while it is running. */
  worker: {
    id: string;
    /**
     * When its lease expires if it is not renewed.
     */
    leaseUntil: string;
  } | null;
  /** The run’s latest job in BullMQ, which may have removed it. */
  job: {
    queue: string;
    id: string;
  };
  /** Why no worker can take the run: none is alive, or no live worker knows its agent, version or strategy, or has its tools; null otherwise. */
  unattended: {
    reason: 'no_worker' | 'unknown_agent' | 'unknown_version' | 'unknown_strategy' | 'unknown_tool';
    message: string;
  } | null;
  output: JsonObject | null;
  /** What the strategy extracts from the answer besides the result; null: nothing. */
  details: Json;
}

export interface TreeRun {
  threadId: Id;
  id: string;
  agent: string;
  model: string;
  contextRef: Id;
  status: RunStatus;
  /** Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
  terminationReason: string | null;
  /** Iterations so far. */
  iteration: number;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** 0 for the root. */
  depth: number;
  /** The call that started it; null for the root. */
  parent: {
    threadId: Id;
    id: string;
    /** The name of the call: its round and index. */
    call: string;
    /** Tool round of the call that started it. */
    round: number;
    /** Position of the call in its round. */
    index: number;
  } | null;
  usage: Usage | null;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  waits: RunWait[];
  /**
   * When the run was accepted.
   */
  createdAt: string;
  /**
   * When a worker first claimed it.
   */
  startedAt: string | null;
  /**
   * When the run ended.
   */
  finishedAt: string | null;
}

/** A run with all runs below it: those that its tool calls have started, and those that these runs have started in turn. */
export interface RunTree {
  root: RunRef;
  /** Each run is followed by the runs that its tool calls started, in order of time. */
  runs: TreeRun[];
  /** The sum over all runs of the tree. */
  usage: Usage | null;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
}

export interface CancelRun {
  reason?: string;
}

export interface CancelReceipt {
  id: Id;
  threadId: Id;
  status: RunStatus;
  /** false: the run had already ended. */
  accepted: boolean;
}

export interface RetryRun {
  /** A second request with this id returns the same run. */
  requestId?: Id;
  /**
   * As for a new run.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
  freshChildren?: boolean;
}

export interface CancelRuns {
  /** The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
  filter: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /**
     * A run with this mark.
     */
    mark?:
      | 'failed'
      | 'ended_early'
      | 'abandoned'
      | 'tool_failed'
      | 'arguments_refused'
      | 'tool_retried'
      | 'model_retried'
      | 'model_fell_back'
      | 'worker_lost'
      | 'cut'
      | 'over_budget'
      | 'cache_missed'
      | 'handoffs_looped'
      | 'model_overridden'
      | 'liked'
      | 'disliked'
      | 'steered'
      | 'steer_dropped'
      | 'prompt_changed'
      | 'context_replaced'
      | 'compacted';
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: Id;
    /** Runs of threads whose metadata contains this JSON object. */
    metadata?: JsonObject;
    /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
    text?: string;
    /** False: runs that ended without an answer. */
    answered?: boolean;
    /** False: only runs that no tool call has started. */
    children?: boolean;
    /** Runs with this model. */
    model?: string;
    /** Failed runs with this error type. */
    errorType?: string;
    /** Runs that spent at least this many tokens. */
    minTokens?: number;
    /**
     * Runs accepted at this time or later.
     */
    createdAfter?: string;
    /**
     * Runs accepted before this time.
     */
    createdBefore?: string;
  };
  /** A preview: counts the runs, shows the first few, and changes nothing. */
  dryRun?: boolean;
  /** Maximum number of runs to act on; default 100. */
  limit?: number;
  /** The `next_after` of the previous page. */
  after?: string;
  reason?: string;
}

export interface RetryRuns {
  /** The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
  filter: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /**
     * A run with this mark.
     */
    mark?:
      | 'failed'
      | 'ended_early'
      | 'abandoned'
      | 'tool_failed'
      | 'arguments_refused'
      | 'tool_retried'
      | 'model_retried'
      | 'model_fell_back'
      | 'worker_lost'
      | 'cut'
      | 'over_budget'
      | 'cache_missed'
      | 'handoffs_looped'
      | 'model_overridden'
      | 'liked'
      | 'disliked'
      | 'steered'
      | 'steer_dropped'
      | 'prompt_changed'
      | 'context_replaced'
      | 'compacted';
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: Id;
    /** Runs of threads whose metadata contains this JSON object. */
    metadata?: JsonObject;
    /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
    text?: string;
    /** False: runs that ended without an answer. */
    answered?: boolean;
    /** False: only runs that no tool call has started. */
    children?: boolean;
    /** Runs with this model. */
    model?: string;
    /** Failed runs with this error type. */
    errorType?: string;
    /** Runs that spent at least this many tokens. */
    minTokens?: number;
    /**
     * Runs accepted at this time or later.
     */
    createdAfter?: string;
    /**
     * Runs accepted before this time.
     */
    createdBefore?: string;
  };
  /** A preview: counts the runs, shows the first few, and changes nothing. */
  dryRun?: boolean;
  /** Maximum number of runs to act on; default 100. */
  limit?: number;
  /** The `next_after` of the previous page. */
  after?: string;
  /** Repeating the id repeats the request of each run. */
  requestId?: Id;
  /**
   * As for a new run.
   */
  busy?: 'reject' | 'wait';
  /** True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
  freshChildren?: boolean;
}

export interface ReleaseRuns {
  /** The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
  filter: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /**
     * A run with this mark.
     */
    mark?:
      | 'failed'
      | 'ended_early'
      | 'abandoned'
      | 'tool_failed'
      | 'arguments_refused'
      | 'tool_retried'
      | 'model_retried'
      | 'model_fell_back'
      | 'worker_lost'
      | 'cut'
      | 'over_budget'
      | 'cache_missed'
      | 'handoffs_looped'
      | 'model_overridden'
      | 'liked'
      | 'disliked'
      | 'steered'
      | 'steer_dropped'
      | 'prompt_changed'
      | 'context_replaced'
      | 'compacted';
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: Id;
    /** Runs of threads whose metadata contains this JSON object. */
    metadata?: JsonObject;
    /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
    text?: string;
    /** False: runs that ended without an answer. */
    answered?: boolean;
    /** False: only runs that no tool call has started. */
    children?: boolean;
    /** Runs with this model. */
    model?: string;
    /** Failed runs with this error type. */
    errorType?: string;
    /** Runs that spent at least this many tokens. */
    minTokens?: number;
    /**
     * Runs accepted at this time or later.
     */
    createdAfter?: string;
    /**
     * Runs accepted before this time.
     */
    createdBefore?: string;
  };
  /** A preview: counts the runs, shows the first few, and changes nothing. */
  dryRun?: boolean;
  /** Maximum number of runs to act on; default 100. */
  limit?: number;
  /** The `next_after` of the previous page. */
  after?: string;
  /**
   * For calls that wait for approval; default: they go on waiting.
   */
  decision?: 'approve' | 'deny';
  /** Reason for the decision; the model sees the reason for a denial. */
  reason?: string;
  /** The result of calls that wait for an event or a time; default null. */
  result?: Json;
  /** These calls fail with this message instead. */
  error?: string;
  /** Who releases them. */
  by?: string;
}

export interface Rerun {
  /** Id of the fork; default: a generated id. */
  threadId?: Id;
  /** The version of the agent: a label or an id. Default: what its rollout chooses. */
  version?: string;
  /** Overrides the model of the run. */
  model?: string;
  /** Overrides the prompt of the lane. Every agent must list `systemPrompt` as overridable. */
  systemPrompt?: string | null;
  /** Replaces the context policy of agent and thread. */
  contextPolicy?: ContextPolicy;
  /** True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
  freshChildren?: boolean;
  /** Your own data, stored with the fork. */
  metadata?: JsonObject;
  /** A second request with this id returns the same run. */
  requestId?: Id;
}

export interface NewInput {
  /** Text, which is trimmed, or content parts. */
  content: string | ContentPart[];
  /**
   * Input always has the role user.
   */
  role?: 'user';
  /** Who sent it, for the log. */
  by?: string;
  /** Stored in the refs of the message; up to 64 KiB. */
  extraRefs?: JsonObject;
  /** Reject the input unless the run of this request is active. */
  expectedRequestId?: Id;
  /** A second request with this id does not repeat the input. You can send the id as `Idempotency-Key` instead. */
  inputId?: Id;
}

/** The run accepted the input. */
export interface InputReceipt {
  inputId: Id;
  threadId: Id;
  runId: Id;
  /**
   * queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
   */
  status: 'queued' | 'injected' | 'dropped';
  /** true: the input had already been accepted. */
  duplicate: boolean;
}

export interface ListInputsQuery {
  /** Return inputs after this ordinal: the `next_after` of the previous page. */
  after?: number;
  /** Maximum number of items; default 100. */
  limit?: number;
}

/** Input sent to an active run. */
export interface Input {
  id: Id;
  runId: Id;
  /** Position among the inputs of the run, from 1. */
  ordinal: number;
  kind: 'steer' | 'inject';
  by: string;
  content: Content;
  /**
   * queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
   */
  status: 'queued' | 'injected' | 'dropped';
  /** The entry of the resulting message. */
  entrySeq: number | null;
  /**
   * When it was accepted.
   */
  createdAt: string;
  /**
   * When it became a message or was dropped.
   */
  settledAt: string | null;
}

export interface InputPage {
  data: Input[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

export interface Decision {
  /** Reason for the decision; the model sees the reason for a denial. */
  reason?: string;
  /** Who made the decision. */
  by?: string;
}

export interface DecisionReceipt {
  threadId: Id;
  runId: Id;
  /** The name of the call: its round and index. */
  call: string;
  decision: 'approved' | 'denied';
  by: string | null;
  reason: string | null;
  /**
   * When the decision was made.
   */
  decidedAt: string;
  /** true: the same decision had already been made. */
  duplicate: boolean;
  status: RunStatus;
}

export interface ListNodesQuery {
  /** Return nodes after this one: the `next_after` of the previous page. */
  after?: number;
  /** Maximum number of items; default 100. */
  limit?: number;
}

/** A finding of a strategy: a thought, or the answer to a question that the strategy asked. */
export interface RunNode {
  /** Number of the node, from 1, in the order of creation. */
  node: number;
  /** The node from which this node follows; 0 is the question of the run. */
  parent: number | null;
  /** Only if the strategy builds a tree. */
  depth: number | null;
  /** For an answer, what was asked for, such as `generate`; otherwise `thought`, or the strategy’s name for it. */
  kind: string;
  /** For an answer, `answered` or `tools`; for a thought, `open`, `expanded` or `best`. */
  status: string;
  /** From 0 to 1, if the strategy scores. */
  score: number | null;
  content: string | null;
  /** For an answer, its model call. */
  callId: string | null;
  /** For an answer, its token counters; otherwise null. */
  usage: Usage | null;
  /** For an answer, when it arrived: milliseconds since the run started. */
  elapsedMs: number | null;
  /** For an answer, its tool rounds; otherwise notes of the strategy. */
  data: Json;
}

/** A page of nodes. */
export interface RunNodePage {
  data: RunNode[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

export interface ListRunEventsQuery {
  /** Maximum number of items; default 100. */
  limit?: number;
  /** Return events after this event_seq: the `next_after` of the previous page. */
  after?: number;
}

/** An event of the trace. */
export interface RunEvent {
  /** Number in the thread, from 0, without gaps. */
  eventSeq: number;
  runId: Id;
  /** Number in the run, from 1, without gaps. */
  seq: number;
  kind: string;
  /** The iteration that the event belongs to. */
  iteration: number;
  /** Depends on the kind; `data.seq` refers to an entry. */
  data: JsonObject;
  /**
   * When the event was committed.
   */
  at: string;
}

export interface RunEventPage {
  data: RunEvent[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

export interface NewCheckpoint {
  /** Lifetime of the token; default: 30 days. null: unlimited. */
  expiresInMs?: number | null;
}

/** A token for a step of a run. */
export interface Checkpoint {
  /** Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
  token: string;
  threadId: Id;
  runId: Id;
  /** The step the token refers to. */
  step: number;
  /**
   * When the token expires; null: never.
   */
  expiresAt: string | null;
}

export interface Resume {
  /** Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
  token: string;
  /** A new user message; starts a new run on the same lane. */
  query?: Content;
  /** With `query`: repeating the id returns the same run. Or send it as `Idempotency-Key`. */
  requestId?: Id;
}

/** One request executed by an agent. */
export interface Run<RESULT = Json> {
  threadId: Id;
  id: string;
  requestId: string;
  agent: string;
  /** The version of the agent on the worker that took the run last; null before a worker has taken the run. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: Id;
  status: RunStatus;
  /** Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
  terminationReason: string | null;
  /** Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
  truncated: boolean;
  /** Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
  answered: boolean | null;
  /** Iterations so far. */
  iteration: number;
  /** Commits so far. */
  step: number;
  /** Null if none are known. */
  usage: Usage | null;
  /** The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
  otherUsage: {
    [key: string]: Usage;
  } | null;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** The run that this one repeats. */
  retryOf: Id | null;
  /** The run whose checkpoint token started this one. */
  resumedFrom: Id | null;
  /** Tool calls of a suspended run that wait for approval; approve or deny each. */
  approvals: {
    /** The name of the call: its round and index. */
    call: string;
    /** Tool round of the run, from 1. */
    round: number;
    /** Position in the round, from 0. */
    index: number;
    /** Id assigned by the provider; not necessarily unique. */
    id: string;
    name: string;
    /** Arguments from the model. */
    arguments: Json;
  }[];
  /** Everything that a suspended run waits for, approvals included. */
  waits: RunWait[];
  /** The run whose tool call started it. */
  parent: RunRef | null;
  /**
   * When the next wait ends by itself.
   */
  suspendedUntil: string | null;
  /**
   * Since when the run has been waiting for a worker that knows its agent and strategy.
   */
  agentUnknownSince: string | null;
  /** Priority of the job: 0 goes first, then lower numbers before higher ones. */
  priority: number;
  /**
   * No worker starts the run before this time.
   */
  startAt: string | null;
  /**
   * When the run fails with `expired` if no worker has started it.
   */
  expiresAt: string | null;
  /** The limit that a queued run waits for, or the model whose circuit is open. */
  limitedBy: {
    /** The name of the limit. */
    limit?: string;
    /** The model whose circuit is open, if it waits for that. */
    circuit?: string;
    /**
     * Since when it waits.
     */
    since: string;
    /** The tenant that set it; absent: the operator. */
    owner?: Id;
    /** The values of its scope that have an amount of their own. */
    key?: string;
    /**
     * When it may let the run continue; absent if only the end of another run can tell.
     */
    until?: string;
  } | null;
  /** The version of its agent that the run waits for, if workers know the agent but not this version. */
  unknownVersion: string | null;
  /** The strategy that the run waits for, if workers know its agent but not the strategy. */
  unknownStrategy: string | null;
  /** The tools that the run waits for, if workers know its agent but not all of these tools. */
  unknownTools: string[] | null;
  /**
   * When the run was accepted.
   */
  createdAt: string;
  /**
   * When a worker first claimed it.
   */
  startedAt: string | null;
  /**
   * When the run ended.
   */
  finishedAt: string | null;
  durationMs: number | null;
  /** The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
  result: RESULT | null;
}

export interface Collect {
  /** Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
  token: string;
}

export interface ListRunsQuery {
  status?: RunStatus;
  /** Runs of this agent. */
  agent?: string;
  /** Runs that this version of their agent took: `agentVersion`. */
  version?: string;
  /**
   * A run with this mark.
   */
  mark?:
    | 'failed'
    | 'ended_early'
    | 'abandoned'
    | 'tool_failed'
    | 'arguments_refused'
    | 'tool_retried'
    | 'model_retried'
    | 'model_fell_back'
    | 'worker_lost'
    | 'cut'
    | 'over_budget'
    | 'cache_missed'
    | 'handoffs_looped'
    | 'model_overridden'
    | 'liked'
    | 'disliked'
    | 'steered'
    | 'steer_dropped'
    | 'prompt_changed'
    | 'context_replaced'
    | 'compacted';
  /**
   * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** Runs of threads of this tenant. */
  tenantId?: Id;
  /** Runs of threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** False: runs that ended without an answer. */
  answered?: boolean;
  /** False: only runs that no tool call has started. */
  children?: boolean;
  /** Runs with this model. */
  model?: string;
  /** Failed runs with this error type. */
  errorType?: string;
  /** Runs that spent at least this many tokens. */
  minTokens?: number;
  /**
   * Runs accepted at this time or later.
   */
  createdAfter?: string;
  /**
   * Runs accepted before this time.
   */
  createdBefore?: string;
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
}

export interface CancelByToken {
  /** Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
  token: string;
  reason?: string;
}

export interface NewThread {
  /** Default: a generated id. */
  id?: Id;
  tenantId?: Id;
  /** Allowed only if every agent of the server lists `systemPrompt` as overridable. */
  systemPrompt?: string | null;
  /** Your own data, up to 64 KiB, stored with the thread. */
  metadata?: JsonObject;
}

/** One conversation and its append-only log. */
export interface Thread {
  id: Id;
  tenantId: Id;
  /** Number of entries. */
  rev: number;
  /** Number of events. To stream only new events, start after `event_rev` - 1. */
  eventRev: number;
  activeContextRef: Id;
  /** The run that is queued, running or suspended. */
  activeRunId: Id | null;
  /** Your own data. */
  metadata: JsonObject;
  /** State written by tools. */
  state: JsonObject;
  /** The thread it was forked from. */
  parentThreadId: Id | null;
  /** The last entry of the parent that the fork includes. */
  forkSeq: number | null;
  /**
   * When the thread was created.
   */
  createdAt: string;
  /**
   * When the thread was last written to.
   */
  updatedAt: string;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
}

export interface ListThreadsQuery {
  /** Threads of this tenant. */
  tenantId?: Id;
  /** Threads whose metadata contains this JSON object. */
  metadata?: JsonObject;
  /** Threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
  text?: string;
  /** Threads whose latest run has this agent. */
  agent?: string;
  /** Threads whose latest run was taken by this version of its agent. */
  version?: string;
  /** Threads whose latest run has this status. */
  status?: RunStatus;
  /**
   * Threads that have a run with this mark.
   */
  mark?:
    | 'failed'
    | 'ended_early'
    | 'abandoned'
    | 'tool_failed'
    | 'arguments_refused'
    | 'tool_retried'
    | 'model_retried'
    | 'model_fell_back'
    | 'worker_lost'
    | 'cut'
    | 'over_budget'
    | 'cache_missed'
    | 'handoffs_looped'
    | 'model_overridden'
    | 'liked'
    | 'disliked'
    | 'steered'
    | 'steer_dropped'
    | 'prompt_changed'
    | 'context_replaced'
    | 'compacted';
  /**
   * Threads that have a run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
   */
  waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
  /** False: only threads that no tool call has created. */
  children?: boolean;
  /** Only threads that the tool calls of this thread have created. */
  startedBy?: Id;
  /**
   * Threads created at this time or later.
   */
  createdAfter?: string;
  /**
   * Threads created before this time.
   */
  createdBefore?: string;
  /**
   * `created` (default): by creation. `asked`: by when the newest run was accepted; threads without runs by creation. For a tenant, `asked` lists the newest 5,000 threads; on a database distributed by Citus, it orders by creation.
   */
  order?: 'created' | 'asked';
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
}

/** A thread as lists show it. */
export interface ThreadSummary {
  id: Id;
  tenantId: Id;
  /** Number of entries. */
  rev: number;
  activeRunId: Id | null;
  /** Your own data. */
  metadata: JsonObject;
  parentThreadId: Id | null;
  /**
   * When the thread was created.
   */
  createdAt: string;
  /**
   * When the thread was last written to.
   */
  updatedAt: string;
  /** Status of the active run, or else of the latest; null: no runs. */
  status: RunStatus | null;
  /** How many threads the tool calls of its runs have created. */
  children: number;
  /** Number of runs, up to 1,000. */
  runs: number;
  /** Total tokens of these runs. */
  totalTokens: number;
  /** In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** The active run, or else the latest. */
  lastRun: {
    id: Id;
    agent: string;
    model: string;
    status: RunStatus;
    errorType: string | null;
    /** Whether the run ended with an answer; null until it ends. */
    answered: boolean | null;
    /** Why the run ended; null until then. */
    terminationReason: string | null;
    /**
     * When the run was accepted.
     */
    at: string;
    /**
     * No worker starts the run before this time.
     */
    startAt: string | null;
  } | null;
  /** The first 200 characters of the message that started the latest run. */
  lastMessage: string | null;
  /** Marks of its runs, counted by kind. A run that waits has its mark only in its thread. */
  marks: MarkCount[];
}

export interface ThreadPage {
  data: ThreadSummary[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

/** How many of each were removed. */
export interface Removed {
  /** Threads. */
  threads: number;
  /** Entries of their logs. */
  entries: number;
  /** Events of their traces. */
  events: number;
  /** Runs. */
  runs: number;
  /** Tool calls. */
  toolCalls: number;
  /** Inputs sent to runs. */
  inputs: number;
  /** Context operations. */
  operations: number;
  /** Large texts. */
  contents: number;
  /** Jobs in the queue. */
  jobs: number;
}

/** What the erasure of a thread removed. */
export interface ErasureReport {
  threadId: Id;
  tenantId: Id;
  removed: Removed;
  /** Threads of the agents that its runs called, and of those that these called. They keep their text: erase each of them too, unless it has become a conversation of its own. */
  childThreads: Id[];
  /** What was not removed, such as backups and data that model providers keep. */
  left: string[];
}

export interface GetConfigQuery {
  /** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
  contextRef?: Id;
  /** As of this entry, inclusive; a number past the last entry means the last entry. */
  atSeq?: number;
}

/** Prompt and tool settings of a thread, which override those of its agents. */
export interface Config {
  systemPrompt: string | null;
  tools: {
    added: string[];
    removed: string[];
  };
  /** Merged over the tool context of the agent. */
  toolContext: JsonObject;
  contextPolicy: JsonObject | null;
}

export interface ConfigChange {
  /** null: no system prompt. */
  systemPrompt?: string | null;
  /** Replaces the tool context of the thread. */
  toolContext?: JsonObject;
  /** null: back to the policy of the agent. */
  contextPolicy?:
    | ('window' | 'short_context' | 'long_context' | 'tool_focused')
    | {
        /** Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit. */
        maxInputTokens?: number | 'window' | null;
        /** Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000. */
        reserveOutputTokens?: number;
        /** Maximum messages besides the system prompt; 0: no limit. */
        maxMessages?: number;
        /** Newest turns to keep whole, even over budget; default 3. */
        keepLastTurns?: number;
        /**
         * `use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.
         */
        summarization?: 'none' | 'use_existing' | 'request_new';
        /** Share of the budget at which a run requests a compaction of its lane when it ends; default: none. */
        compactAt?: number;
        summaryRole?: 'system' | 'user';
        includeKinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
        systemPrompt?: string;
        /** `heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server. */
        tokenEstimator?: string;
        projector?: string;
      }
    | null;
  registerTools?: string[];
  unregisterTools?: string[];
  /** The lane; default: the whole thread. */
  contextRef?: Id;
}

export interface ConfigReceipt {
  /**
   * deferred: the change is applied when the active run ends.
   */
  status: 'applied' | 'deferred';
  /** The first entry of the change. */
  firstSeq: number | null;
}

export interface NewFork {
  /** Default: a generated id. Repeating a request with the same id returns the same fork. */
  id?: Id;
  /** The last entry that the fork includes; -1: none. Default: the last of the thread. */
  atSeq?: number;
  /** Only this lane; default: all lanes, except lanes on which strategies asked their own questions. */
  contextRef?: Id;
  /** Your own data, up to 64 KiB; the parent’s is not copied. */
  metadata?: JsonObject;
  /** Replaces the prompts of all lanes. Every agent must list `systemPrompt` as overridable. */
  systemPrompt?: string | null;
  /** Give tool calls without a result a flagged error result, instead of failing. */
  repair?: boolean;
}

export interface NewBranch {
  /** The last entry whose context the branch has; -1: none. */
  afterSeq?: number;
  /** Instead of `afterSeq`: a question as `listUiMessages` has it, or its answer. With `input`, the branch replaces the question; without, it answers the question again. Needs `agent`. */
  messageId?: Id;
  /** The lane to leave; default: the lane that has the entry, or for a message the active lane. A branch has the messages of the lanes it left, too. */
  contextRef?: Id;
  /** Name of the new lane. Default: that of the other lane with a number, such as `default@2`. */
  lane?: Id;
  /** Whether the branch becomes the active lane; default true. */
  show?: boolean;
  /** A second request with this id returns the same branch. It is also the request id of its run. You can send it as `Idempotency-Key` instead. */
  opId?: Id;
  /**
   * If the thread has an active run: `reject` (default) fails with 409 `thread_busy`; `wait` makes the branch and shows it when its run begins, or when the active run has ended; `interrupt` cancels that run, which also needs the scope `steer`.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** The agent of a run on the branch. Default: no run. */
  agent?: string;
  /** What the run is asked. Without it, the run answers the question of `messageId`, or that of `afterSeq`. */
  input?: Content;
  /** No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
  delayMs?: number;
  /** The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
  ttlMs?: number;
  /** Stored in the refs of the user message. */
  extraRefs?: JsonObject;
  /** The version of the agent: a label or an id. Default: what its rollout chooses. */
  version?: string;
  /** Overrides the model of the agent, with those that stand in for it. */
  model?: string | string[] | ModelFallback;
  /** Overrides the strategy of the agent. */
  strategy?: string;
  /** Options of the strategy, merged over the agent’s if it has the same strategy. */
  strategyOptions?: JsonObject;
  /** Names of the tools to use instead of the tools of agent and thread. */
  tools?: string[];
  /** Restricts the available tools to these; an empty array allows none. */
  allowedTools?: string[];
  /** Merged over the tool context of agent and thread. */
  toolContext?: JsonObject;
  /** Overrides the settings of the agent, key by key. */
  settings?: Settings;
  /** HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
  headers?: {
    [key: string]: string;
  };
  /** Name of the request transformer to use instead of the agent’s. */
  requestTransformer?: string;
  /** Replaces the context policy of agent and thread. */
  contextPolicy?: ContextPolicy;
  /** Maximum number of iterations. */
  maxIterations?: number;
  /** Tokens of input and output after which the run ends with the best result it has. */
  maxTotalTokens?: number;
  /** What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
  maxCost?: number;
  /** Time after its start at which the run ends with the best result it has. */
  maxDurationMs?: number;
  /** Whether the model streams its answer. */
  streaming?: boolean;
  /** How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
  idleTimeoutMs?: number;
  output?: OutputContract;
  /** Time limit of one tool attempt. */
  toolTimeoutMs?: number;
  /** Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
  priority?: number;
  /** Values that limits may apply to, by dimension. */
  limitKeys?: {
    [key: string]: string;
  };
  /**
   * rewind: after a failure, the lane goes back to its state before the run.
   */
  onFailure?: 'keep' | 'rewind';
}

/** A new lane of a thread, and the run that was accepted with it. */
export interface BranchReceipt {
  opId: Id;
  /** The new lane. */
  contextRef: Id;
  /** Its anchor. */
  seq: number;
  parent: {
    /** The lane that it left. */
    contextRef: Id;
    /** The last entry whose context it has; -1: none. */
    afterSeq: number;
    /** The message that the first one of the branch follows; null: it is empty before. */
    parentSeq: number | null;
  };
  /** Whether it is the active lane now. While a run is active, it is shown later. */
  shown: boolean;
  /** The branch was made by an earlier request. */
  duplicate: boolean;
  run: RunReceipt | null;
}

/** A lane, and where it left another one: a row of the view `lane_tree`. */
export interface Branch {
  contextRef: Id;
  parentContextRef: Id | null;
  /** The last entry whose context the branch has; -1: none. */
  branchedAfterSeq: number | null;
  /** The message that the first one of the branch follows; null: it is empty before. */
  parentSeq: number | null;
  /** The first lane of its tree. */
  rootContextRef: Id;
  /** The anchor with which the branch began. */
  branchSeq: number | null;
  /** Whether it is the active lane of the thread. */
  shown: boolean;
  /** The last entry of the lane. */
  lastSeq: number;
  /**
   * When the lane began.
   */
  createdAt: string;
}

export interface BranchList {
  data: Branch[];
}

export interface ListMessageTreeQuery {
  /** Return messages after this seq. */
  after?: number;
  /** Maximum number of items; default 1000. */
  limit?: number;
}

/** A message, the one before it and its siblings: a row of the view `message_tree`. */
export interface TreeMessage {
  /** The entry of the message. */
  seq: number;
  /** The lane on which it was written. */
  contextRef: Id;
  role: string;
  runId: Id | null;
  /** The message before it, across branches; null: it is the first. */
  parentSeq: number | null;
  /** How many messages follow the same one, itself included. */
  siblings: number;
  /** Its place among them, from 1, in the order of the log. */
  place: number;
}

export interface TreePage {
  data: TreeMessage[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

/** A message on a lane; default: the lane `default`. */
export interface NewMessageEntry {
  kind: 'ai_message';
  context_ref?: Id;
  payload: Message;
  /** Provenance; your own data, up to 64 KiB. */
  refs?: JsonObject;
}

/** An entry of your own kind, which no model sees. */
export interface NewOwnEntry {
  /** Default: `note`. */
  kind?: string;
  context_ref?: Id;
  /** Your own data; default: {}. */
  payload?: JsonObject;
  /** Provenance; your own data, up to 64 KiB. */
  refs?: JsonObject;
}

export interface AppendEntries {
  entries: (NewMessageEntry | NewOwnEntry)[];
  /** Append only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
  expectedRev?: number;
  /** Add flagged error results for tool calls that have no result. */
  repair?: boolean;
  /** A second request with this id returns the first receipt. You can send the id as `Idempotency-Key` instead. */
  opId?: Id;
}

export interface AppendReceipt {
  firstSeq: number;
  /** Current number of entries of the thread. For a duplicate, it includes entries appended since. */
  rev: number;
  duplicate: boolean;
}

export interface ListEntriesQuery {
  /** Return entries after this seq: the `next_after` of the previous page. */
  after?: number;
  /** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
  kind?: Id;
  /** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
  contextRef?: Id;
  /** Maximum number of items; default 100. */
  limit?: number;
}

/** One row of the append-only log. */
export interface Entry {
  /** Position in the log, from 0, without gaps. */
  seq: number;
  kind: string;
  contextRef: string | null;
  role: string | null;
  opId: string | null;
  runId: string | null;
  requestId: string | null;
  /** Content of the entry. */
  payload: JsonObject;
  /** Provenance. */
  refs: JsonObject;
  /**
   * When the entry was appended.
   */
  at: string;
}

export interface EntryPage {
  data: Entry[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

export interface ReadContentQuery {
  /** Where to begin, in characters. Default 0. */
  offset?: number;
  /** How many characters to read. Default 65536. */
  length?: number;
}

/** A part of a large text. */
export interface ContentRange {
  id: Id;
  /** Length of the whole text in characters (code points). */
  chars: number;
  /** Length of the whole text in bytes of UTF-8. */
  bytes: number;
  /** Where this part begins, in characters. */
  offset: number;
  text: string;
  /** Where the next part begins; null at the end. */
  nextOffset: number | null;
}

export interface ListUiMessagesQuery {
  /** The `next_after` of the previous page. */
  after?: string;
  /** 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
  contextRef?: Id;
  /** Maximum number of items; default 50. */
  limit?: number;
}

/** A `UIMessage` of the AI SDK, with the AI SDK’s field names. */
export interface UiMessage {
  /** For a question, its request id; for an answer, the id of its run. */
  id: string;
  role: 'user' | 'assistant';
  /** For an answer: `thread_id`, `run_id`, `usage`, `termination_reason`, `error`. For a message that has other versions on other branches: `versions`, with its `place` among them, from 1, and for each version a lane to show, in `lanes`. */
  metadata?: {
    [key: string]: unknown;
  };
  /** As in the AI SDK. */
  parts: ({
    type: string;
  } & {
    [key: string]: unknown;
  })[];
}

export interface UiMessagePage {
  data: UiMessage[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface ListThreadEventsQuery {
  /** Maximum number of items; default 100. */
  limit?: number;
  /** Return events after this event_seq: the `next_after` of the previous page. */
  after?: number;
}

export interface ListWaitsQuery {
  /** The `next_after` of the previous page. */
  after?: string;
  /** Maximum number of items; default 50. */
  limit?: number;
  /** Only waits for this event. */
  event?: Id;
  kind?: 'event' | 'time' | 'run';
}

/** A tool call that waits for an event, a time or another run. */
export interface PendingWait {
  threadId: Id;
  runId: Id;
  /** The name of the call: its round and index. */
  call: string;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'event' | 'time' | 'run';
  /** The event it waits for. */
  event: Id | null;
  /** The run it waits for. */
  run: RunRef | null;
  /**
   * Since when it waits.
   */
  since: string;
  /**
   * When it ends by itself; null: never.
   */
  until: string | null;
}

export interface WaitPage {
  data: PendingWait[];
  /** Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
  nextAfter: string | null;
}

export interface Resolution {
  /** The result of the call: text or JSON; default null. */
  result?: Json;
  /** The call fails with this message instead. */
  error?: string;
  /** Who resolved it. */
  by?: string;
}

export interface ResolvedWait {
  /** false: the wait had ended before, and nothing changed. */
  resolved: boolean;
  /**
   * How the wait ended; `overridden`: by hand.
   */
  wait: 'resolved' | 'expired' | 'overridden' | 'abandoned';
  /** The status of the run: `suspended` while other calls wait. */
  status: RunStatus;
}

/** What each operation takes and returns. */
export interface Operations {
  listAlarms: { query: undefined; body: undefined; answer: AlarmList };
  getAlarm: { query: GetAlarmQuery; body: undefined; answer: Alarm };
  setAlarm: { query: SetAlarmQuery; body: NewAlarm; answer: Alarm };
  removeAlarm: { query: RemoveAlarmQuery; body: undefined; answer: void };
  pauseAlarm: { query: PauseAlarmQuery; body: undefined; answer: Alarm };
  resumeAlarm: { query: ResumeAlarmQuery; body: undefined; answer: Alarm };
  listAlarmCounts: { query: ListAlarmCountsQuery; body: undefined; answer: AlarmCountList };
  listApprovals: { query: ListApprovalsQuery; body: undefined; answer: ApprovalPage };
  keepCase: { query: undefined; body: NewCase; answer: Case };
  keepRuns: { query: undefined; body: KeepRuns; answer: BulkReceipt };
  listCases: { query: ListCasesQuery; body: undefined; answer: CaseList };
  getCase: { query: undefined; body: undefined; answer: Case };
  updateCase: { query: undefined; body: CaseChanges; answer: Case };
  removeCase: { query: undefined; body: undefined; answer: void };
  listDatasets: { query: undefined; body: undefined; answer: DatasetList };
  listLanes: { query: undefined; body: undefined; answer: LaneList };
  getContext: { query: GetContextQuery; body: undefined; answer: Context };
  compactLane: { query: undefined; body: Compact; answer: RunReceipt };
  getCall: { query: undefined; body: undefined; answer: ModelCall };
  applyContextOperation: { query: undefined; body: ContextOperation; answer: OperationReceipt };
  showLane: { query: undefined; body: LaneChange; answer: OperationReceipt };
  resetLane: { query: undefined; body: LaneChange; answer: OperationReceipt };
  sendEvent: { query: undefined; body: NewEvent; answer: SentEvent };
  giveFeedback: { query: undefined; body: NewFeedback; answer: FeedbackReceipt };
  listFeedback: { query: ListFeedbackQuery; body: undefined; answer: FeedbackPage };
  createBrowserToken: { query: undefined; body: NewBrowserToken; answer: BrowserToken };
  listLimitHolders: { query: ListLimitHoldersQuery; body: undefined; answer: LimitHolderPage };
  listLimits: { query: ListLimitsQuery; body: undefined; answer: LimitList };
  createRun: { query: undefined; body: NewRun; answer: RunReceipt };
  createRuns: { query: undefined; body: NewRuns; answer: RunReceipts };
  listAllRuns: { query: ListAllRunsQuery; body: undefined; answer: RunPage };
  countRuns: { query: CountRunsQuery; body: undefined; answer: RunCounts };
  getRun: { query: undefined; body: undefined; answer: RunSnapshot };
  getTree: { query: undefined; body: undefined; answer: RunTree };
  cancelRun: { query: undefined; body: CancelRun; answer: CancelReceipt };
  retryRun: { query: undefined; body: RetryRun; answer: RunReceipt };
  cancelRuns: { query: undefined; body: CancelRuns; answer: BulkReceipt };
  retryRuns: { query: undefined; body: RetryRuns; answer: BulkReceipt };
  releaseRuns: { query: undefined; body: ReleaseRuns; answer: BulkReceipt };
  rerunRun: { query: undefined; body: Rerun; answer: RunReceipt };
  steerRun: { query: undefined; body: NewInput; answer: InputReceipt };
  injectRun: { query: undefined; body: NewInput; answer: InputReceipt };
  listInputs: { query: ListInputsQuery; body: undefined; answer: InputPage };
  approveToolCall: { query: undefined; body: Decision; answer: DecisionReceipt };
  denyToolCall: { query: undefined; body: Decision; answer: DecisionReceipt };
  listNodes: { query: ListNodesQuery; body: undefined; answer: RunNodePage };
  listRunEvents: { query: ListRunEventsQuery; body: undefined; answer: RunEventPage };
  createCheckpoint: { query: undefined; body: NewCheckpoint; answer: Checkpoint };
  resumeRun: { query: undefined; body: Resume; answer: Run };
  collectRun: { query: undefined; body: Collect; answer: Run };
  listRuns: { query: ListRunsQuery; body: undefined; answer: RunPage };
  cancelByToken: { query: undefined; body: CancelByToken; answer: CancelReceipt };
  createThread: { query: undefined; body: NewThread; answer: Thread };
  listThreads: { query: ListThreadsQuery; body: undefined; answer: ThreadPage };
  getThread: { query: undefined; body: undefined; answer: Thread };
  eraseThread: { query: undefined; body: undefined; answer: ErasureReport };
  getConfig: { query: GetConfigQuery; body: undefined; answer: Config };
  changeConfig: { query: undefined; body: ConfigChange; answer: ConfigReceipt };
  forkThread: { query: undefined; body: NewFork; answer: Thread };
  branchThread: { query: undefined; body: NewBranch; answer: BranchReceipt };
  listBranches: { query: undefined; body: undefined; answer: BranchList };
  listMessageTree: { query: ListMessageTreeQuery; body: undefined; answer: TreePage };
  appendEntries: { query: undefined; body: AppendEntries; answer: AppendReceipt };
  listEntries: { query: ListEntriesQuery; body: undefined; answer: EntryPage };
  readContent: { query: ReadContentQuery; body: undefined; answer: ContentRange };
  listUiMessages: { query: ListUiMessagesQuery; body: undefined; answer: UiMessagePage };
  listThreadEvents: { query: ListThreadEventsQuery; body: undefined; answer: RunEventPage };
  listWaits: { query: ListWaitsQuery; body: undefined; answer: WaitPage };
  resolveWait: { query: undefined; body: Resolution; answer: ResolvedWait };
}

/** Method and path of each operation. */
export const places = {
  listAlarms: 'GET /v1/alarms',
  getAlarm: 'GET /v1/alarms/{name}',
  setAlarm: 'PUT /v1/alarms/{name}',
  removeAlarm: 'DELETE /v1/alarms/{name}',
  pauseAlarm: 'POST /v1/alarms/{name}/pause',
  resumeAlarm: 'POST /v1/alarms/{name}/resume',
  listAlarmCounts: 'GET /v1/alarms/{name}/counts',
  listApprovals: 'GET /v1/approvals',
  keepCase: 'POST /v1/cases',
  keepRuns: 'POST /v1/cases/keep-many',
  listCases: 'GET /v1/cases',
  getCase: 'GET /v1/cases/{caseId}',
  updateCase: 'PATCH /v1/cases/{caseId}',
  removeCase: 'DELETE /v1/cases/{caseId}',
  listDatasets: 'GET /v1/datasets',
  listLanes: 'GET /v1/threads/{threadId}/contexts',
  getContext: 'GET /v1/threads/{threadId}/contexts/{contextRef}',
  compactLane: 'POST /v1/threads/{threadId}/compact',
  getCall: 'GET /v1/threads/{threadId}/calls/{llmCallId}',
  applyContextOperation: 'POST /v1/threads/{threadId}/context-operations',
  showLane: 'POST /v1/threads/{threadId}/contexts/{contextRef}/show',
  resetLane: 'POST /v1/threads/{threadId}/contexts/{contextRef}/reset',
  sendEvent: 'POST /v1/events/{event}',
  giveFeedback: 'POST /v1/threads/{threadId}/feedback',
  listFeedback: 'GET /v1/feedback',
  createBrowserToken: 'POST /v1/tokens',
  listLimitHolders: 'GET /v1/limits/{name}/holders',
  listLimits: 'GET /v1/limits',
  createRun: 'POST /v1/threads/{threadId}/runs',
  createRuns: 'POST /v1/runs',
  listAllRuns: 'GET /v1/runs',
  countRuns: 'GET /v1/runs/counts',
  getRun: 'GET /v1/threads/{threadId}/runs/{runId}',
  getTree: 'GET /v1/threads/{threadId}/runs/{runId}/tree',
  cancelRun: 'POST /v1/threads/{threadId}/runs/{runId}/cancel',
  retryRun: 'POST /v1/threads/{threadId}/runs/{runId}/retry',
  cancelRuns: 'POST /v1/runs/cancel-many',
  retryRuns: 'POST /v1/runs/retry-many',
  releaseRuns: 'POST /v1/runs/release-many',
  rerunRun: 'POST /v1/threads/{threadId}/runs/{runId}/rerun',
  steerRun: 'POST /v1/threads/{threadId}/runs/{runId}/steer',
  injectRun: 'POST /v1/threads/{threadId}/runs/{runId}/inject',
  listInputs: 'GET /v1/threads/{threadId}/runs/{runId}/inputs',
  approveToolCall: 'POST /v1/threads/{threadId}/runs/{runId}/tool-calls/{call}/approve',
  denyToolCall: 'POST /v1/threads/{threadId}/runs/{runId}/tool-calls/{call}/deny',
  listNodes: 'GET /v1/threads/{threadId}/runs/{runId}/nodes',
  listRunEvents: 'GET /v1/threads/{threadId}/runs/{runId}/events',
  createCheckpoint: 'POST /v1/threads/{threadId}/runs/{runId}/checkpoint',
  resumeRun: 'POST /v1/runs/resume',
  collectRun: 'POST /v1/runs/collect',
  listRuns: 'GET /v1/threads/{threadId}/runs',
  cancelByToken: 'POST /v1/runs/cancel',
  createThread: 'POST /v1/threads',
  listThreads: 'GET /v1/threads',
  getThread: 'GET /v1/threads/{threadId}',
  eraseThread: 'DELETE /v1/threads/{threadId}',
  getConfig: 'GET /v1/threads/{threadId}/config',
  changeConfig: 'PATCH /v1/threads/{threadId}/config',
  forkThread: 'POST /v1/threads/{threadId}/fork',
  branchThread: 'POST /v1/threads/{threadId}/branch',
  listBranches: 'GET /v1/threads/{threadId}/branches',
  listMessageTree: 'GET /v1/threads/{threadId}/tree',
  appendEntries: 'POST /v1/threads/{threadId}/entries',
  listEntries: 'GET /v1/threads/{threadId}/entries',
  readContent: 'GET /v1/threads/{threadId}/contents/{contentId}',
  listUiMessages: 'GET /v1/threads/{threadId}/ui-messages',
  listThreadEvents: 'GET /v1/threads/{threadId}/events',
  listWaits: 'GET /v1/waits',
  resolveWait: 'POST /v1/threads/{threadId}/runs/{runId}/tool-calls/{call}/resolve',
} as const;
