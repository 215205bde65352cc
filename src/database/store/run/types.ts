// Generated from declaration.ts beside it: run `npm run types:api`.

import type { TerminationReason } from './run-ref.ts';
import type { Usage } from '../../../agent/context/message.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { RunRef } from './run-ref.ts';
import type { RunMarkCount } from '../trace/types.ts';
import type { MarkKind } from '../trace/types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

/** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
export type Call = string;

/** A run as lists show it. */
export interface ListedRun {
  threadId: string;
  id: string;
  requestId: string;
  agent: string;
  /** The version of the agent on the worker that took the run last; null before a worker has taken the run. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /**
   * Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`.
   */
  terminationReason: TerminationReason | null;
  /**
   * Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did
   * not say.
   */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
  truncated: boolean;
  /**
   * Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until
   * it ends.
   */
  answered: boolean | null;
  /** Iterations so far. */
  iteration: number;
  /** Commits so far. */
  step: number;
  /** Null if none are known. */
  usage: Usage | null;
  /**
   * The part of `usage` spent on models other than `model`, by model, each with its `calls`. Usually null: only
   * request transformers and handoffs change the model.
   */
  otherUsage: Record<string, Usage> | null;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** The run that this one repeats. */
  retryOf: string | null;
  /** The run whose checkpoint token started this one. */
  resumedFrom: string | null;
  /** Tool calls of a suspended run that wait for approval; approve or deny each. */
  approvals: {
    /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
    call: Call;
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
  /** When the next wait ends by itself. */
  suspendedUntil: Date | null;
  /**
   * Since when the run has waited for a worker that knows its agent and strategy, and none was seen; null
   * otherwise. Shortly after workers without the agent have moved the run, it may be set although such a worker
   * exists.
   */
  agentUnknownSince: Date | null;
  /** Priority of the job: 0 goes first, then lower numbers before higher ones. */
  priority: number;
  /** No worker starts the run before this time. */
  startAt: Date | null;
  /** When the run fails with `expired` if no worker has started it. */
  expiresAt: Date | null;
  /** The limit that a queued run waits for, or the model whose circuit is open. */
  limitedBy: {
    /** The name of the limit. */
    limit?: string;
    /** The model whose circuit is open, if it waits for that. */
    circuit?: string;
    /** Since when it waits. */
    since: string;
    /** The tenant that set it; absent: the operator. */
    owner?: string;
    /** The values of its scope that have an amount of their own. */
    key?: string;
    /** When it may let the run continue; absent if only the end of another run can tell. */
    until?: string;
  } | null;
  /** The version of its agent that the run waits for, if workers know the agent but not this version. */
  unknownVersion: string | null;
  /** The strategy that the run waits for, if workers know its agent but not the strategy. */
  unknownStrategy: string | null;
  /** The tools that the run waits for, if workers know its agent but not all of these tools. */
  unknownTools: string[] | null;
  /** When the run was accepted. */
  createdAt: Date;
  /** When a worker first claimed it. */
  startedAt: Date | null;
  /** When the run ended. */
  finishedAt: Date | null;
  durationMs: number | null;
  /** The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
  result: Json;
  /** The first 200 characters of the message that started the run; null if none did, as for a compaction. */
  question: string | null;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** Marks of the run, counted by kind. A run that waits has its mark only in its thread. */
  marks: RunMarkCount[];
  /** How many runs its tool calls have started. */
  children: number;
}

/** The cost of model calls, at your own prices or the list prices of the providers. */
export interface RunCost {
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
}

/** How many runs a filter finds, the most frequent first. */
export interface RunCounts {
  /** All runs accepted since then were looked at; null: all runs. */
  since: Date | null;
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

export interface RunFilter {
  threadId?: string;
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
}

export interface RunSelection {
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
}

/** What is known of a run, except its result. */
export interface RunState {
  requestId: string;
  agent: string;
  /** The version of the agent on the worker that took the run last; null before a worker has taken the run. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /**
   * Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`.
   */
  terminationReason: TerminationReason | null;
  /**
   * Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did
   * not say.
   */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
  truncated: boolean;
  /**
   * Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until
   * it ends.
   */
  answered: boolean | null;
  /** Iterations so far. */
  iteration: number;
  /** Commits so far. */
  step: number;
  /** Null if none are known. */
  usage: Usage | null;
  /**
   * The part of `usage` spent on models other than `model`, by model, each with its `calls`. Usually null: only
   * request transformers and handoffs change the model.
   */
  otherUsage: Record<string, Usage> | null;
  error: {
    type: string;
    message: string;
    /** What could not be written at the end of the run: restore, operation, configuration, results. */
    skipped?: string[];
  } | null;
  /** The run that this one repeats. */
  retryOf: string | null;
  /** The run whose checkpoint token started this one. */
  resumedFrom: string | null;
  /** Tool calls of a suspended run that wait for approval; approve or deny each. */
  approvals: {
    /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
    call: Call;
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
  /** When the next wait ends by itself. */
  suspendedUntil: Date | null;
  /**
   * Since when the run has waited for a worker that knows its agent and strategy, and none was seen; null
   * otherwise. Shortly after workers without the agent have moved the run, it may be set although such a worker
   * exists.
   */
  agentUnknownSince: Date | null;
  /** Priority of the job: 0 goes first, then lower numbers before higher ones. */
  priority: number;
  /** No worker starts the run before this time. */
  startAt: Date | null;
  /** When the run fails with `expired` if no worker has started it. */
  expiresAt: Date | null;
  /** The limit that a queued run waits for, or the model whose circuit is open. */
  limitedBy: {
    /** The name of the limit. */
    limit?: string;
    /** The model whose circuit is open, if it waits for that. */
    circuit?: string;
    /** Since when it waits. */
    since: string;
    /** The tenant that set it; absent: the operator. */
    owner?: string;
    /** The values of its scope that have an amount of their own. */
    key?: string;
    /** When it may let the run continue; absent if only the end of another run can tell. */
    until?: string;
  } | null;
  /** The version of its agent that the run waits for, if workers know the agent but not this version. */
  unknownVersion: string | null;
  /** The strategy that the run waits for, if workers know its agent but not the strategy. */
  unknownStrategy: string | null;
  /** The tools that the run waits for, if workers know its agent but not all of these tools. */
  unknownTools: string[] | null;
  /** When the run was accepted. */
  createdAt: Date;
  /** When a worker first claimed it. */
  startedAt: Date | null;
  /** When the run ended. */
  finishedAt: Date | null;
  durationMs: number | null;
}

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

export interface RunToolCall {
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
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

/** A tool call that waits: for approval, an event, a time or the end of another run. */
export interface RunWait {
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'approval' | 'event' | 'time' | 'run';
  /** The event it waits for, or null. */
  event: string | null;
  /** The run it waits for, or null. */
  run: RunRef | null;
  /** Since when it waits. */
  since: Date;
  /** When it ends by itself; null: never. */
  until: Date | null;
}

/** A run with its place in a tree of runs. */
export interface TreeRun {
  threadId: string;
  id: string;
  agent: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /**
   * Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`.
   */
  terminationReason: TerminationReason | null;
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
    threadId: string;
    id: string;
    /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
    call: Call;
    /** Tool round of the call that started it. */
    round: number;
    /** Position of the call in its round. */
    index: number;
  } | null;
  /**
   * Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the
   * input, `reasoning_tokens`, part of the output, and its own. Where it does not count, Lanefold estimates:
   * `estimated_tokens` says how many of the total are estimates.
   */
  usage: Usage | null;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  waits: RunWait[];
  /** When the run was accepted. */
  createdAt: Date;
  /** When a worker first claimed it. */
  startedAt: Date | null;
  /** When the run ended. */
  finishedAt: Date | null;
}
