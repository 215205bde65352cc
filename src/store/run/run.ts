import type { Json, Usage } from '../../context/message.ts';
import type { WithResult } from '../../contracts/result-type.ts';

/** Why a run ended. At a limit it is `completed`, and its result is the best there is: often null. */
export type TerminationReason =
  // of strategies that converse, and of cot and cod
  | 'final_answer'
  | 'success'
  // limits
  | 'max_iterations'
  | 'max_total_tokens'
  | 'max_duration'
  // what ends no run as completed
  | 'error'
  | 'cancelled'
  | 'poisoned'
  // of other strategies, yours included
  | (string & Record<never, never>);

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

export interface RunHandle<RESULT = unknown> extends RunRef<RESULT> {
  requestId: string;
  status: RunStatus;
  /** The request had been accepted before. */
  duplicate: boolean;
}

/** A tool call that waits for approval. */
export interface AwaitingCall {
  round: number;
  /** In its round, from 0. */
  index: number;
  /** The provider's id of the call; it may repeat. */
  id: string;
  name: string;
  arguments: Json;
}

export interface Run<RESULT = Json> extends RunRef<RESULT> {
  requestId: string;
  agent: string;
  strategy: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /** Null while it runs. */
  terminationReason: TerminationReason | null;
  iteration: number;
  step: number;
  usage: Usage | null;
  /** The part of `usage` spent on models other than `model`, by model, each with its `calls`: a request transformer chose them. Null, as a rule. */
  otherUsage: Record<string, Usage> | null;
  /** Null until the run is completed, and where it ended without a result: by `terminationReason` at a limit, or failed. */
  result: RESULT | null;
  error: { type: string; message: string; skipped?: string[] } | null;
  /** The run whose checkpoint token it was started from. */
  resumedFrom: string | null;
  /** The run that it repeats. */
  retryOf: string | null;
  /** What a suspended run waits for; empty otherwise. */
  awaiting: AwaitingCall[];
  /** When the calls that nobody has decided on are denied; null while the run is not suspended. */
  suspendedUntil: Date | null;
  /**
   * The run waits for a worker that knows its agent and strategy: since when none has been seen. Null otherwise. Shortly
   * after workers without the agent have passed the run on, it may be set although there is one.
   */
  agentUnknownSince: Date | null;
  /** Of its job, as in BullMQ: 0 goes first. */
  priority: number;
  /** No worker starts it before; null: as soon as its turn comes. */
  startAt: Date | null;
  /** When it ends as `failed` with the error `expired`, unless a worker has started it; null once one has. */
  expiresAt: Date | null;
  /** The strategy it waits for, where workers know its agent and lack the strategy. */
  unknownStrategy: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  durationMs: number | null;
}

/** A run by its thread and id. */
export interface RunRef<RESULT = unknown> extends WithResult<RESULT> {
  threadId: string;
  id: string;
}
