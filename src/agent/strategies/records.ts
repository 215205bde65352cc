import type { AnswerCut } from '../context/fold.ts';
import type { Json, JsonObject, ToolCall, Usage } from '../context/message.ts';
import type { FallbackReason } from '../models/fallback-reason.ts';
import type { ContextRoom } from '../policy/policy.ts';

/** A node that a step adds or changes: the answer to a question, or something the strategy derived from answers. */
export interface StrategyNode {
  /** From 1; 0 is the question of the run, which has no row. */
  node: number;
  status: string;
  /** Default `thought`. */
  kind?: string;
  parent?: number;
  depth?: number;
  score?: number;
  content?: string;
  /** Merged into the existing data, key by key. `rounds` are the tool rounds of an answer. */
  data?: JsonObject;
  /** The number of the model call, for an answer. */
  callNo?: number;
  usage?: Usage;
  elapsedMs?: number;
}

/** The node after applying a draft to it. */
export const changedNode = (before: StrategyNode | undefined, draft: StrategyNode): StrategyNode => ({
  ...before,
  ...draft,
  ...(before?.data && draft.data ? { data: { ...before.data, ...draft.data } } : {}),
});

/** An answer as a later claim returns it, with all that a strategy needs to continue. */
export interface StoredAnswer {
  node: number;
  /** The purpose of the question. */
  kind: string;
  /** `tools` while the model still calls tools, `answered` afterwards. */
  status: 'tools' | 'answered';
  content: string | null;
  usage: Usage;
  elapsedMs: number;
  /** The tool rounds it took to get the answer. */
  rounds: AnsweredRound[];
}

/** An assistant message with tool calls, as logged, and the messages with their results. */
export interface AnsweredRound {
  assistant: { content: string; tool_calls: ToolCall[]; [key: string]: Json | ToolCall[] };
  results?: { content: string; tool_call_id: string; name: string }[];
  /** Set while the round waits for other answers of the batch or for another round: what its log entry will need. */
  waiting?: { refs: JsonObject; tools?: string[]; cut?: AnswerCut };
}

/** The strategy chosen for a question, and why. */
export interface StrategySelection {
  strategy: string;
  /** How complex the question looks, 0 to 1. */
  score: number;
  task_type: string;
}

/** The kinds of events in a run's trace. Strategies write some of them, the database the others. */
export type RunEventKind =
  | 'request_started'
  | 'llm_started'
  | 'llm_completed'
  | 'llm_retry'
  | 'llm_lost'
  | 'tool_started'
  | 'tool_completed'
  | 'approval_requested'
  | 'approval_decided'
  | 'handed_over'
  | 'version_changed'
  | 'wait_started'
  | 'wait_ended'
  | 'input_injected'
  | 'worker_lost'
  | 'database_restored'
  | 'run_delayed'
  | 'limit_reached'
  | 'compaction_completed'
  | 'compaction_failed'
  | 'output_started'
  | 'output_validated'
  | 'output_repair'
  | 'output_failed'
  | 'checkpoint'
  | 'request_completed'
  | 'request_failed'
  | 'request_cancelled';

/** Why a run failed: a stable `type`, such as `llm_request`, and a message for people. */
export interface RunError {
  type: string;
  message: string;
}

/** Which part of a context to summarise. Without a range, all but the newest turns. */
export interface CompactionRequest {
  /** Entries, inclusive. Groups that are only partly inside stay as they are. */
  range?: [from: number, to: number];
  /** The newest turns that stay as they are; default 1. */
  keepTurns?: number;
  /** The cause, for the log. */
  cause: 'request' | 'threshold' | 'over_budget' | 'handoff';
}

/** The outcome of a compaction; `unchanged` if there is nothing to summarise. */
export interface CompactionOutcome {
  type: 'compacted';
  status: 'compacted' | 'unchanged' | 'failed';
  compaction?: CompactionDraft;
  usage?: Usage;
  /** The model that wrote the summary, if it is not the run's. */
  model?: string | undefined;
  error?: RunError;
  /** Whether another attempt may succeed. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** The kind of failure, for a chain of models. */
  reason?: FallbackReason;
  /** The request was too long for the model, and a shorter one is possible. */
  room?: ContextRoom;
}

/** A summary that replaces messages of the lane. */
export interface CompactionDraft {
  op_id: string;
  /** The last entry of the summarised context. */
  base_seq: number;
  /** Positions of the messages that stay, without the system prompt: first and last, from 0. */
  keep: [first: number, last: number][];
  /** How many of these ranges precede the summary. */
  at: number;
  summary: JsonObject;
  /** Provenance: what it covers, model, usage, tokens before and after, version of the instruction. */
  meta: JsonObject;
}
