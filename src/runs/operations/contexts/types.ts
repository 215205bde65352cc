// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../../agent/context/message.ts';
import type { Usage } from '../../../agent/context/message.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { PolicyReason } from '../../../agent/policy/cut-groups.ts';
import type { Message } from '../../../agent/context/message.ts';
import type { MessageInput } from '../../../agent/models/accept-content.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import type { Lane } from '../../../database/store/context/types.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { CompactionHandle } from './compaction-result.ts';

/** How a model answered a replayed call. It is not stored. */
export interface CallReplay {
  threadId: string;
  llmCallId: string;
  model: string;
  /** Whether the messages, before any change, have the recorded hash. */
  verified: boolean;
  /** Number of messages sent, including the system prompt. */
  messages: number;
  /** The answer; its tool calls were not executed. Null if the call failed. */
  answer: JsonObject | null;
  error: {
    type: string;
    message: string;
  } | null;
  /** Null if the call failed. */
  usage: Usage | null;
  finishReason: string | null;
  durationMs: number;
}

export interface CompactOptions {
  /** The lane; default: the active lane. */
  contextRef?: string;
  /** Entries to summarise, inclusive. Default: all but the newest turns. */
  range?: {
    fromSeq: number;
    toSeq: number;
  };
  /** How many of the newest turns stay; default: as the context policy says. */
  keepTurns?: number;
  /** The agent whose model, prompt and tools the request uses; default: the agent of the lane's latest run. */
  agent?: string;
  /** Default: the model of the lane's latest run, whose provider has the context in its cache. */
  model?: ModelName;
}

/** A context to compare. `contextRef`: default the active lane; `atSeq`: default now. */
export interface DiffedContext {
  threadId: string;
  contextRef?: string;
  /** As of this entry, inclusive; a number past the last entry means the last entry. */
  atSeq?: number;
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
  /**
   * Sent: system_prompt, summary, durable, last_turns, question, fits, projector. Left out: kind, summarization,
   * cut_before, budget, max_messages, before_question, not_chosen.
   */
  reason: PolicyReason;
  /** The message itself, if it is left out. */
  message?: Message;
}

/** Which context to read. */
export interface LaneOptions {
  /** The lane; default: the active one. */
  contextRef?: string;
  /** As of this entry, inclusive; default: now. */
  atSeq?: number;
  /**
   * Only the newest messages: at most this many besides the system prompt, with whole tool groups. Default: all
   * messages.
   */
  limit?: number;
}

/** One answered model call: exactly what was sent, and what came back. */
export interface ModelCall {
  threadId: string;
  runId: string;
  llmCallId: string;
  contextRef: string;
  agent: string;
  model: string;
  /** Size of the model’s context window in tokens; null: unknown. */
  window: number | null;
  /** Iteration of the run, from 1. */
  iteration: number;
  /** The entry of the answer. */
  seq: number;
  /** The messages as they were sent, in canonical form. */
  messages: Message[];
  /** For each message, the `seq` of its entry; null for instructions that are never stored. */
  sources: (number | null)[];
  /**
   * The hash that the worker recorded when it sent the messages: SHA-256, in hex, of the canonical JSON (RFC 8785)
   * of each, followed by a newline.
   */
  contextHash: string;
  /** Whether the messages have this hash: if so, they are byte for byte what was sent. */
  verified: boolean;
  /**
   * Why the messages do not have the hash: a request transformer changed them, this server does not know the output
   * contract, or neither explains the mismatch; null if they have it.
   */
  unverifiedBecause: 'transformed' | 'output_contract' | 'mismatch' | null;
  /** The answer. */
  answer: JsonObject;
  /** Provenance of the answer. */
  refs: JsonObject;
  /** Null if the trace was deleted. */
  usage: Usage | null;
  finishReason: string | null;
  /** When the call started; null if the trace was deleted. */
  startedAt: Date | null;
  /** When the answer was committed. */
  completedAt: Date;
  durationMs: number | null;
  /** Failed or lost attempts before this answer. */
  failedAttempts: {
    kind: string;
    /** When the failure was committed. */
    at: Date;
    /** Depends on the kind. */
    data: JsonObject;
  }[];
  /** The tools offered, as this server defines the agent; null if it does not know the agent. */
  tools: Tool[] | null;
  /**
   * Where and why the messages stop matching the previous call on the lane; null if they begin with everything it
   * sent, or if the log cannot tell.
   */
  prefixBreak: PrefixBreak | null;
  /** The previous call on the lane. */
  previousCallId: string | null;
  /** The next call on the lane. */
  nextCallId: string | null;
}

/** A context to start from: messages in chronological order. */
export interface NewContext {
  /** Your own name for the context, kept in the log. */
  id?: string;
  /** Absent: the lane keeps its system prompt. null: no system prompt. */
  systemPrompt?: string | null;
  entries: MessageInput[];
}

/** How a context is changed. */
export interface OperationOptions {
  /** A thread applies an operation with this id at most once; default: a new id. */
  opId?: string;
  reason?: 'manual' | 'restore' | 'compaction' | 'system';
  /** The entry the operation is based on; recorded only. */
  baseSeq?: number;
  /** Your own data; recorded only. */
  meta?: JsonObject;
  /** Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
  expectedRev?: number;
  /** Add flagged error results for tool calls that have no result. */
  repair?: boolean;
}

export interface PolicyView {
  /** Default: the thread's, else the agent's. */
  policy?: PolicyOption;
  /** `provider:model`, for the window and the tokenizer. Default: the agent's. */
  model?: ModelName;
  /** The agent whose tools, output contract and settings share the budget. Default: that of the lane's latest run. */
  agent?: string;
  /**
   * Shows what fits the budget alone, instead of what the next call is sent: ignores the cut that earlier calls
   * left in force, and the room that a new cut leaves.
   */
  fullBudget?: boolean;
  /** For every message, adds why it is sent or left out, and what it costs. */
  explain?: boolean;
}

/** Where a call first differs from the previous call on its lane. A provider's cached prefix ends there. */
export interface PrefixBreak {
  /** Position of the first message that differs, from 0. */
  position: number;
  /**
   * The entry that caused it: the new prompt, the anchor, or the answer whose `refs` say what the policy left out.
   */
  seq: number;
  cause: 'prompt' | 'anchor' | 'policy' | 'fallback';
}

/** The result of applying a policy to a context. */
export interface ProjectionMeta {
  /** Tokens of the messages, including the system prompt. */
  estimated_tokens: number;
  /** Tokens of the tools offered; 0 if this server does not know the agent. */
  tool_tokens: number;
  /** Maximum tokens of the request; null: no limit. */
  budget: number | null;
  /** The context window of the model; null: unknown. */
  window: number | null;
  /** Whether the budget or `maxMessages` left messages out. */
  truncated: boolean;
  /** Messages sent, without the system prompt. */
  entries_included: number;
  /** Messages of the lane, without the system prompt. */
  entries_total: number;
  summary_used: boolean;
  /** Whether the messages that must be kept exceed the budget. */
  over_budget: boolean;
  /**
   * How tokens were counted. For `calibrated`, also the correction factor, its mean error, and the number of calls
   * that it was learnt from.
   */
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

export interface ReplayCallOptions {
  /** Default: the model of the call. */
  model?: ModelName;
  /** Replaces the whole system message; null: none. Default: the one that was sent. */
  systemPrompt?: string | null;
  /** Cuts the context of the lane as it was before the call, instead of the policy of the run. */
  contextPolicy?: PolicyOption;
}

export interface Tool {
  name: string;
  description: string | null;
  /** JSON Schema. */
  inputSchema: JsonObject;
}

export interface DeclaredContexts {
  /**
   * List the lanes of a thread.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  lanes(threadId: string): Promise<Lane[]>;
  /**
   * Has a model summarise the older part of a lane (default: the active one) and replaces that part with the
   * summary. The compaction is a separate run: it waits for the active one, is leased and retried like any other,
   * and shows up in `runs.list` with the strategy `compaction`. Its result says what it covered and what it cost.
   * Durable messages, such as skills, stay. If the summary is empty, or longer than what it covers, the run fails
   * and nothing changes. Until a lane's compaction has ended, another call returns the same run.
   *
   * @example
   * const run = await lanefold.contexts.compact('support-42');
   * const { status, result } = await lanefold.runs.wait(run);
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `unknown_agent`, `unknown_model`,
   * `override_not_allowed`, `invalid_input`
   */
  compact(
    threadId: string,
    options?: {
      /** The lane; default: the active lane. */
      contextRef?: string;
      /** Entries to summarise, inclusive. Default: all but the newest turns. */
      range?: {
        fromSeq: number;
        toSeq: number;
      };
      /** How many of the newest turns stay; default: as the context policy says. */
      keepTurns?: number;
      /** The agent whose model, prompt and tools the request uses; default: the agent of the lane's latest run. */
      agent?: string;
      /** Default: the model of the lane's latest run, whose provider has the context in its cache. */
      model?: ModelName;
      /** Who starts it; `runs.unfinished` counts runs by caller. */
      caller?: string;
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
    },
  ): Promise<CompactionHandle>;
  /**
   * One answered model call: exactly what was sent, verified by its hash, and what came back. Its `llm_call_id` is
   * in the refs of the answer.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `call_not_found`
   */
  call(threadId: string, llmCallId: string): Promise<ModelCall>;
  /**
   * Repeats an answered model call, with another model, system prompt or policy, to compare the answers. Runs no
   * tools and writes nothing; if the call fails, `error` says why.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `call_not_found`, `unknown_agent`, `unknown_model`,
   * `missing_provider_key`, `override_not_allowed`, `invalid_policy`, `unknown_window`, `server_busy`
   */
  replayCall(
    threadId: string,
    llmCallId: string,
    options?: {
      /** Default: the model of the call. */
      model?: ModelName;
      /** Replaces the whole system message; null: none. Default: the one that was sent. */
      systemPrompt?: string | null;
      /** Cuts the context of the lane as it was before the call, instead of the policy of the run. */
      contextPolicy?: PolicyOption;
      /** Aborts the model call. */
      signal?: AbortSignal;
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
    },
  ): Promise<CallReplay>;
}
