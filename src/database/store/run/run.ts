import type { Json, Usage } from '../../../agent/context/message.ts';
import type { WithResult } from '../../../agent/contracts/contract.ts';

/** Why a run ended. At a limit, the run is `completed` with the best result it has, which is often null. */
export type TerminationReason =
  // the strategy reached an answer
  | 'final_answer'
  | 'success'
  // limits
  | 'max_iterations'
  | 'max_total_tokens'
  | 'max_duration'
  | 'budget_exhausted'
  // the run did not complete
  | 'error'
  | 'cancelled'
  | 'poisoned'
  // of other strategies, yours included
  | (string & Record<never, never>);

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

export interface RunHandle<RESULT = unknown> extends RunRef<RESULT> {
  requestId: string;
  /**
   * For a new run: `queued`, `waiting` behind another run of its thread, or `running` if a worker of this process took it
   * at once.
   */
  status: RunStatus;
  /** The request was accepted before. */
  duplicate: boolean;
}

/** A tool call that waits: for approval, an event, a time or the end of another run. */
export interface RunWait {
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: string;
  round: number;
  /** Index in its round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'approval' | 'event' | 'time' | 'run';
  /** The event it waits for; null for other kinds. */
  event: string | null;
  /** The run it waits for; null for other kinds. */
  run: RunRef | null;
  since: Date;
  /** When it ends by itself; null: never. */
  until: Date | null;
}

/** A tool call that waits for approval. */
export interface AwaitingCall {
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: string;
  round: number;
  /** Index in its round, from 0. */
  index: number;
  /** The provider's id of the call; it may repeat. */
  id: string;
  name: string;
  arguments: Json;
}

export interface Run<RESULT = Json> extends RunRef<RESULT> {
  requestId: string;
  agent: string;
  /** The version of its agent that the worker which took it last has; null before a worker has taken it. */
  agentVersion: string | null;
  strategy: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /** Null until it has ended. */
  terminationReason: TerminationReason | null;
  /**
   * Why the model stopped writing the answer with which the run ended: `stop`, `length`, `content_filter` and others; null
   * if it ended without an answer, or the provider did not say.
   */
  finishReason: string | null;
  /** The answer was cut: at the limit of output tokens (`length`) or by a filter of the provider (`content_filter`). */
  truncated: boolean;
  iteration: number;
  step: number;
  usage: Usage | null;
  /**
   * The part of `usage` spent on models other than `model`, by model, each with its `calls`. Usually null: only
   * request transformers and handoffs change the model.
   */
  otherUsage: Record<string, Usage> | null;
  /** Null until the run completes, and if it ended without a result: failed, or at a limit (`terminationReason`). */
  result: RESULT | null;
  error: { type: string; message: string; skipped?: string[] } | null;
  /** The run whose checkpoint token it was started from. */
  resumedFrom: string | null;
  /** The run that it repeats. */
  retryOf: string | null;
  /** The calls of a suspended run that wait for approval; empty otherwise. */
  awaiting: AwaitingCall[];
  /** Everything that a suspended run waits for, approvals included; empty otherwise. */
  waits: RunWait[];
  /** The run whose tool call started it; null otherwise. */
  parent: RunRef | null;
  /** When the next wait ends by itself; null if none does, and while the run is not suspended. */
  suspendedUntil: Date | null;
  /**
   * Since when the run has waited for a worker that knows its agent and strategy, and none was seen; null otherwise.
   * Shortly after workers without the agent have moved the run, it may be set although such a worker exists.
   */
  agentUnknownSince: Date | null;
  /** Priority of its job, as in BullMQ: 0 goes first. */
  priority: number;
  /** No worker starts it before this time; null: as soon as its turn comes. */
  startAt: Date | null;
  /** When it ends as `failed` with the error `expired`, unless a worker has started it; null once one has. */
  expiresAt: Date | null;
  /** The limit that a queued run waits for; null otherwise. */
  waitingFor: WaitingFor | null;
  /** The version of its agent it waits for, a label or an id, if workers know the agent but lack the version. */
  unknownVersion: string | null;
  /** The strategy it waits for, if workers know its agent but lack the strategy. */
  unknownStrategy: string | null;
  /** The tools it needs that the worker which moved it lacks, although it knows the agent. */
  unknownTools: string[] | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  durationMs: number | null;
}

/** The limit that keeps a run from going on. */
export interface WaitingFor {
  /** Its name. */
  limit: string;
  /** Since when it waits, as an ISO date. */
  since: string;
  /** The tenant that set it; absent: the operator. */
  owner?: string;
  /** The values of its scope that have an amount of their own. */
  key?: string;
  /** When it may let the run go on, as an ISO date; absent if only the end of another run can tell. */
  until?: string;
}

/** A run by its thread and id. */
export interface RunRef<RESULT = unknown> extends WithResult<RESULT> {
  threadId: string;
  id: string;
}
