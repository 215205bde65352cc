import type { JsonObject, Usage } from '../../context/message.ts';
import type { ContextRoom } from '../../policy/room.ts';
import type { RunError } from '../run-error.ts';

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
