// Generated from declaration.ts beside it: run `npm run types:api`.

import type { RunStatus } from '../../../database/store/run/types.ts';
import type { TokenRates } from '../../../agent/models/catalog.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { RunRef } from '../../../database/store/run/run-ref.ts';
import type { TreeRun } from '../../../database/store/run/types.ts';
import type { Usage } from '../../../agent/context/message.ts';
import type { RunToolCall } from '../../../database/store/run/types.ts';
import type { PendingApproval } from '../../../database/store/wait/types.ts';
import type { MarkKind } from '../../../database/store/trace/types.ts';
import type { ListedRun } from '../../../database/store/run/types.ts';
import type { RunCounts } from '../../../database/store/run/types.ts';
import type { ModelName } from '../../../agent/models/providers.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { InputReceipt } from '../../../database/store/input/types.ts';
import type { RunInput } from '../../../database/store/input/types.ts';
import type { DecisionReceipt } from '../../../database/store/wait/types.ts';
import type { RunNode } from '../../../database/store/nodes/types.ts';
import type { Run } from '../../../database/store/run/run.ts';

/** What became of runs that a filter selects. */
export interface BulkReceipt {
  dryRun: boolean;
  /** The moment of the preview: pass it in the filter of the act. */
  createdBefore: Date;
  /** How many of the selected runs the act concerns; counted up to 10,000. */
  matched: number;
  /** What became of each run; in a preview, the first few. */
  runs: {
    threadId: string;
    id: string;
    agent: string;
    /** The status in which the run was found. */
    status: RunStatus;
    /** When the run was accepted. */
    createdAt: Date;
    /** `unchanged`: it was done before, or there was nothing to do. Null in a preview. */
    outcome: 'done' | 'unchanged' | 'refused' | null;
    /** The run that repeats it. */
    started?: string;
    /** The case that it is kept as. */
    caseId?: string;
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

/** A token for a step of a run. */
export interface MintedToken {
  /** Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
  token: string;
  threadId: string;
  runId: string;
  /** The step the token refers to. */
  step: number;
  /** When the token expires; null: never. */
  expiresAt: Date | null;
}

/** What a run has spent on one model, as the provider reports it, and the price that was used. */
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
  price: 'own' | 'list' | null;
  /** The list price per million tokens, without rates that depend on the length of a request. */
  perMillion: TokenRates | null;
}

/** The fields of a request beside agent, input and the options of runs. */
export interface RunRequest {
  /** The lane; default: the thread’s active lane. */
  contextRef?: string;
  /**
   * Repeating the id on the thread returns the same run. Without a `threadId` the thread’s id is derived from it,
   * so it must be unique. Default: the run’s own id.
   */
  requestId?: string;
  /**
   * On a thread with an active run: `reject` (default), `wait` in line, or `interrupt`, which cancels that run,
   * ends earlier interrupts that have not started, and goes ahead of every waiting run.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
  delayMs?: number;
  /**
   * The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay.
   */
  ttlMs?: number;
  /** Stored in the refs of the user message. */
  extraRefs?: JsonObject;
  /** Create the thread if it does not exist. */
  createThread?: boolean;
}

/**
 * A run with all runs below it: those that its tool calls have started, and those that these runs have started in
 * turn.
 */
export interface RunTree {
  /** A run by its thread and id. */
  root: RunRef;
  /** Each run is followed by the runs that its tool calls started, in order of time. */
  runs: TreeRun[];
  /** The sum over all runs of the tree. */
  usage: Usage | null;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
}

/** The fields that a snapshot has beside the fields of the run. */
export interface SnapshotState {
  /** The first 200 characters of the message that started the run; null if none did, as for a compaction. */
  question: string | null;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** What was spent on each model, with the price used. */
  costByModel: ModelCost[];
  /** What the strategy `adaptive` chose, and why. */
  selection: {
    strategy: string;
    score: number;
    task_type: string;
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
    /** When its lease expires if it is not renewed. */
    leaseUntil: Date;
  } | null;
  /** The run’s latest job in BullMQ, which may have removed it. */
  job: {
    queue: string;
    id: string;
  };
  /**
   * Why no worker can take the run: none is alive, or no live worker knows its agent, version or strategy, or has
   * its tools; null otherwise.
   */
  unattended: {
    reason: 'no_worker' | 'unknown_agent' | 'unknown_version' | 'unknown_strategy' | 'unknown_tool';
    message: string;
  } | null;
  /** Outcome of the output contract; null if there is none. */
  output: JsonObject | null;
  /** What the strategy extracts from the answer besides the result; null: nothing. */
  details: JsonObject | null;
}

/** Streams only: resume after this event. Browsers send it automatically. */
export type lastEventId = string;

export interface Approvals {
  /** List the tool calls of all threads that wait for approval, soonest to expire first. */
  list(options?: {
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
  }): Promise<{
    data: PendingApproval[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
}

export interface DeclaredRuns {
  /** Runs, newest first: of one thread, or over all threads. */
  list(options?: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /** A run with this mark. */
    mark?: MarkKind;
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
     * it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: string;
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
    /** Runs accepted at this time or later. */
    createdAfter?: Date;
    /** Runs accepted before this time. */
    createdBefore?: Date;
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
    threadId?: string;
  }): Promise<{
    data: ListedRun[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /** Counts the runs that a filter finds: at most the newest 5,000. */
  counts(options?: {
    status?: RunStatus;
    /** Runs of this agent. */
    agent?: string;
    /** Runs that this version of their agent took: `agentVersion`. */
    version?: string;
    /** A run with this mark. */
    mark?: MarkKind;
    /**
     * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
     * it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** Runs of threads of this tenant. */
    tenantId?: string;
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
    /** Runs accepted at this time or later. */
    createdAfter?: Date;
    /** Runs accepted before this time. */
    createdBefore?: Date;
    threadId?: string;
  }): Promise<RunCounts>;
  /**
   * Read the tree of runs that a run belongs to. The root, and the runs that tool calls have started, with their
   * states, costs and waits.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`
   */
  tree(run: RunRef): Promise<RunTree>;
  /**
   * Repeats a run that has ended: a new run of the same agent with the same input and options, linked by `retryOf`,
   * on the same lane as it is now. If a failed run should leave its lane as it was before, enqueue it with
   * `onFailure: 'rewind'`. A compaction cannot be repeated, nor a run that never began and whose trace was dropped.
   *
   * @throws LanefoldError `run_active`, `run_not_found`, `unknown_agent`, `unknown_model`, `thread_busy`,
   * `thread_erased`, `idempotency_mismatch`, `invalid_input`
   */
  retry<RESULT>(
    run: RunRef<RESULT>,
    options?: {
      /** A second request with this id returns the same run. */
      requestId?: string;
      /** As for a new run. */
      busy?: 'reject' | 'wait' | 'interrupt';
      /**
       * True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has
       * asked it gets the answer that the agent gave then.
       */
      freshChildren?: boolean;
      /** Replaces the model of the run. */
      model?: ModelName;
      /** Who starts it; `unfinished` counts runs by caller. */
      caller?: string;
    },
  ): Promise<RunHandle<RESULT>>;
  /**
   * Cancel the runs that a filter selects. Runs that have ended are left out. Repeating the request cancels no run
   * twice. Each run has an outcome: one that is refused stops no other.
   *
   * @throws LanefoldError `invalid_input`
   */
  cancelMany(
    filter: {
      status?: RunStatus;
      /** Runs of this agent. */
      agent?: string;
      /** Runs that this version of their agent took: `agentVersion`. */
      version?: string;
      /** A run with this mark. */
      mark?: MarkKind;
      /**
       * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
       * it, the run before it, or its start.
       */
      waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
      /** Runs of threads of this tenant. */
      tenantId?: string;
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
      /** Runs accepted at this time or later. */
      createdAfter?: Date;
      /** Runs accepted before this time. */
      createdBefore?: Date;
    },
    options?: {
      /** A preview: counts the runs, shows the first few, and changes nothing. */
      dryRun?: boolean;
      /** Maximum number of runs to act on; default 100. */
      limit?: number;
      /** The `nextAfter` of the previous page. */
      after?: string;
      reason?: string;
    },
  ): Promise<BulkReceipt>;
  /**
   * Ask the questions of the ended runs that a filter selects again. Runs that have not ended are left out.
   * Repeating the request with its `requestId` starts no run twice. Each run has an outcome: one that is refused
   * stops no other.
   *
   * @throws LanefoldError `invalid_input`
   */
  retryMany(
    filter: {
      status?: RunStatus;
      /** Runs of this agent. */
      agent?: string;
      /** Runs that this version of their agent took: `agentVersion`. */
      version?: string;
      /** A run with this mark. */
      mark?: MarkKind;
      /**
       * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
       * it, the run before it, or its start.
       */
      waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
      /** Runs of threads of this tenant. */
      tenantId?: string;
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
      /** Runs accepted at this time or later. */
      createdAfter?: Date;
      /** Runs accepted before this time. */
      createdBefore?: Date;
    },
    options?: {
      /** A preview: counts the runs, shows the first few, and changes nothing. */
      dryRun?: boolean;
      /** Maximum number of runs to act on; default 100. */
      limit?: number;
      /** The `nextAfter` of the previous page. */
      after?: string;
      /** Repeating the id repeats the request of each run. */
      requestId?: string;
      /** As for a new run. */
      busy?: 'reject' | 'wait';
      /**
       * True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has
       * asked it gets the answer that the agent gave then.
       */
      freshChildren?: boolean;
      /** Who starts it; `unfinished` counts runs by caller. */
      caller?: string;
    },
  ): Promise<BulkReceipt>;
  /**
   * Let the suspended runs that a filter selects continue. Resolves the calls that wait for an event or a time, and
   * decides those that wait for approval if `decision` is given, which also needs the scope `approve`. Calls that
   * began to wait after the preview are left alone, and so are those that wait for another run. Each run has an
   * outcome: one that is refused stops no other.
   *
   * @throws LanefoldError `invalid_input`
   */
  releaseMany(
    filter: {
      status?: RunStatus;
      /** Runs of this agent. */
      agent?: string;
      /** Runs that this version of their agent took: `agentVersion`. */
      version?: string;
      /** A run with this mark. */
      mark?: MarkKind;
      /**
       * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
       * it, the run before it, or its start.
       */
      waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
      /** Runs of threads of this tenant. */
      tenantId?: string;
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
      /** Runs accepted at this time or later. */
      createdAfter?: Date;
      /** Runs accepted before this time. */
      createdBefore?: Date;
    },
    options?: {
      /** A preview: counts the runs, shows the first few, and changes nothing. */
      dryRun?: boolean;
      /** Maximum number of runs to act on; default 100. */
      limit?: number;
      /** The `nextAfter` of the previous page. */
      after?: string;
      /** For calls that wait for approval; default: they go on waiting. */
      decision?: 'approve' | 'deny';
      /** Reason for the decision; the model sees the reason for a denial. */
      reason?: string;
      /** The result of calls that wait for an event or a time; default null. */
      result?: unknown;
      /** These calls fail with this message instead. */
      error?: string;
      /** Who releases them. */
      by?: string;
    },
  ): Promise<BulkReceipt>;
  /**
   * Asks the question of a run again, on a fork of its lane as it was before the question, with another model,
   * prompt or policy, so that the answers can be compared: see `contexts.diff`. The thread of the run stays as it
   * is; the new run is on the fork. `thread_exists` also for a fork on which something else was asked,
   * `invalid_input` for a run that has not begun.
   *
   * @example
   * const other = await lanefold.runs.rerun(run, { model: 'anthropic:claude-sonnet-4-5' });
   *
   * @throws LanefoldError `run_not_found`, `unknown_agent`, `unknown_model`, `invalid_policy`,
   * `override_not_allowed`, `thread_exists`, `thread_erased`, `idempotency_mismatch`, `invalid_input`
   */
  rerun<RESULT>(
    run: RunRef<RESULT>,
    options?: {
      /** Id of the fork; default: a generated id. */
      threadId?: string;
      /** The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** Overrides the model of the run. */
      model?: string;
      /** Overrides the prompt of the lane. Every agent must list `systemPrompt` as overridable. */
      systemPrompt?: string | null;
      /** A policy, or the name of a preset. */
      contextPolicy?: PolicyOption;
      /**
       * True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has
       * asked it gets the answer that the agent gave then.
       */
      freshChildren?: boolean;
      /** Your own data, stored with the fork. */
      metadata?: JsonObject;
      /** A second request with this id returns the same run. */
      requestId?: string;
      /** Who starts it; `unfinished` counts runs by caller. */
      caller?: string;
      /** `http`: only what the agent lists for callers over HTTP may be overridden. */
      from?: 'library' | 'http';
    },
  ): Promise<RunHandle<RESULT>>;
  /**
   * Sends a human’s message to a run, or to the active run of a thread, without starting a run. For a program’s
   * message, see `inject`. If it is not accepted, nothing is queued.
   *
   * @throws LanefoldError `run_not_found`, `no_active_run`, `other_run_active`, `run_ending`, `not_steerable`,
   * `queue_full`, `empty_content`, `input_too_large`, `context_too_large`, `idempotency_mismatch`, `thread_erased`
   */
  steer(
    run: RunRef | string,
    content: ContentInput,
    options?: {
      /** Input always has the role user. */
      role?: unknown;
      /** Who sent it, for the log. */
      by?: string;
      /** Stored in the refs of the message; up to 64 KiB. */
      extraRefs?: JsonObject;
      /** Reject the input unless the run of this request is active. */
      expectedRequestId?: string;
      /** A second request with this id does not repeat the input. You can send the id as `Idempotency-Key` instead. */
      inputId?: string;
    },
  ): Promise<InputReceipt>;
  /**
   * Like `steer`, for a message that a program sends.
   *
   * @throws LanefoldError `run_not_found`, `no_active_run`, `other_run_active`, `run_ending`, `not_steerable`,
   * `queue_full`, `empty_content`, `input_too_large`, `context_too_large`, `idempotency_mismatch`, `thread_erased`
   */
  inject(
    run: RunRef | string,
    content: ContentInput,
    options?: {
      /** Input always has the role user. */
      role?: unknown;
      /** Who sent it, for the log. */
      by?: string;
      /** Stored in the refs of the message; up to 64 KiB. */
      extraRefs?: JsonObject;
      /** Reject the input unless the run of this request is active. */
      expectedRequestId?: string;
      /** A second request with this id does not repeat the input. You can send the id as `Idempotency-Key` instead. */
      inputId?: string;
    },
  ): Promise<InputReceipt>;
  /**
   * The inputs a run accepted through `steer` and `inject`, in order, with their state.
   *
   * @throws LanefoldError `run_not_found`
   */
  inputs(
    run: RunRef,
    options?: {
      /** Return inputs after this ordinal: the `nextAfter` of the previous page. */
      after?: number;
      /** Maximum number of items; default 100. */
      limit?: number;
    },
  ): Promise<RunInput[]>;
  /**
   * Approves a tool call that a suspended run waits for; `call` is its name, such as `1.0`, in `approvals` of the
   * run. The first decision counts: repeating it returns the same receipt. The run resumes once every call of its
   * round is decided.
   *
   * @throws LanefoldError `already_decided`, `not_awaiting_approval`, `tool_call_not_found`, `run_not_found`,
   * `thread_erased`
   */
  approve(
    run: RunRef,
    call: string,
    options?: {
      /** Reason for the decision; the model sees the reason for a denial. */
      reason?: string;
      /** Who made the decision. */
      by?: string;
    },
  ): Promise<DecisionReceipt>;
  /**
   * Like `approve`, but the call is not made, and the model sees a denial.
   *
   * @throws LanefoldError `already_decided`, `not_awaiting_approval`, `tool_call_not_found`, `run_not_found`,
   * `thread_erased`
   */
  deny(
    run: RunRef,
    call: string,
    options?: {
      /** Reason for the decision; the model sees the reason for a denial. */
      reason?: string;
      /** Who made the decision. */
      by?: string;
    },
  ): Promise<DecisionReceipt>;
  /**
   * List the findings of a run’s strategy: its answers and thoughts. Empty for `react`, `cot` and `cod`, whose
   * answers are in the log.
   *
   * @throws LanefoldError `run_not_found`, `thread_erased`
   */
  nodes(
    run: RunRef,
    options?: {
      /** Return nodes after this one: the `nextAfter` of the previous page. */
      after?: number;
      /** Maximum number of items; default 100. */
      limit?: number;
    },
  ): Promise<RunNode[]>;
  /**
   * Mints a token for the current step of a run. It works for 30 days unless `expiresInMs` says otherwise; null:
   * for ever. `token_stale` for a cancelled run.
   *
   * @throws LanefoldError `missing_token_secret`, `run_not_found`, `unknown_agent`, `token_stale`
   */
  checkpoint(
    run: RunRef,
    options?: {
      /** Lifetime of the token; default: 30 days. null: unlimited. */
      expiresInMs?: number | null;
    },
  ): Promise<MintedToken>;
  /**
   * Resumes from a token. An unfinished run without a worker is queued again; an ended run is returned with its
   * result; with a `query`, a new run asks it on the same lane. `run_active` while a worker holds the run,
   * `token_stale` where it has advanced or was cancelled; an invalid token throws the code of the check it fails
   * (docs/reference/checkpoints.md).
   *
   * @throws LanefoldError `run_active`, `run_not_found`, `token_stale`, `token_expired`, `missing_token_secret`
   */
  resume(
    token: string,
    options?: {
      /** A new user message; starts a new run on the same lane. */
      query?: ContentInput;
      /** With `query`: repeating the id returns the same run. Or send it as `Idempotency-Key`. */
      requestId?: string;
      /** Who starts it; `unfinished` counts runs by caller. */
      caller?: string;
    },
  ): Promise<Run>;
}
