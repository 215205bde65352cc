// Generated from declaration.ts beside it: run `npm run types:api`.

import type { RunEventKind } from '../../../agent/strategies/records.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

export type MarkKind =
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

/** An event of the trace. */
export interface RunEvent {
  /** Number in the thread, from 0, without gaps. */
  eventSeq: number;
  runId: string;
  /** Number in the run, from 1, without gaps. */
  seq: number;
  kind: RunEventKind;
  /** The iteration that the event belongs to. */
  iteration: number;
  /** Depends on the kind; `data.seq` refers to an entry. */
  data: JsonObject;
  /** When the event was committed. */
  at: Date;
}

/** Something in a run that is worth a look. */
export interface RunMark {
  runId: string;
  /**
   * `failed`, `ended_early`, `abandoned`, `tool_failed`, `arguments_refused`, `tool_retried`, `model_retried`,
   * `model_fell_back`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `handoffs_looped`, `model_overridden`,
   * `liked`, `disliked`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted` or
   * `waiting`. More kinds may be added.
   */
  kind: string;
  /** The entry to look at; null: the mark concerns the whole run. */
  seq: number | null;
  /** The model call that shows more, if any. */
  llmCallId: string | null;
  /** Depends on the kind. */
  data: JsonObject;
}

/** The number of marks of one kind, and the place of the first mark. */
export interface RunMarkCount {
  runId: string;
  /**
   * `failed`, `ended_early`, `abandoned`, `tool_failed`, `arguments_refused`, `tool_retried`, `model_retried`,
   * `model_fell_back`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `handoffs_looped`, `model_overridden`,
   * `liked`, `disliked`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted` or
   * `waiting`. More kinds may be added.
   */
  kind: string;
  /** The entry to look at; null: the mark concerns the whole run. */
  seq: number | null;
  /** The model call that shows more, if any. */
  llmCallId: string | null;
  /** Number of marks of this kind. */
  count: number;
}
