import type { Json, Usage } from '../../context/message.ts';
import type { RunRef } from './run-ref.ts';

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
  /** `final_answer`, `max_iterations`, `error`, `cancelled`, `poisoned`; null while it runs. */
  terminationReason: string | null;
  iteration: number;
  step: number;
  usage: Usage | null;
  /** Null until the run is completed, and where it failed without a result. */
  result: RESULT | null;
  error: { type: string; message: string } | null;
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
