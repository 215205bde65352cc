import type { RunEvent } from '../../database/store/run/types.ts';
import type { UnattendedRuns } from '../fleet/unattended.ts';
import type { JsonObject } from '../../agent/context/message.ts';

/** What a stream yields, in order. */
export type StreamItem =
  /** An event of the trace; with the `entries` option, also the payload of the entry it is about. */
  | { type: 'event'; event: RunEvent; entry?: JsonObject }
  /** More of an answer: `text` or `thinking` that begins at `offset` (as `string.length` counts). */
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; text: string }
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; thinking: string }
  /** The whole answer so far; it replaces every earlier delta of that call. */
  | { type: 'llm_snapshot'; runId: string; llmCallId: string; text: string; thinking: string }
  /**
   * Nothing has happened for a few seconds and no worker can take the run. Sent once per reason; the stream continues.
   */
  | ({ type: 'unattended' } & UnattendedRuns);

/** Whether a completed run has a result, by its `request_completed`: in the event, or in the entry it names. */
export const hasResult = (data: JsonObject): boolean =>
  data['result_seq'] !== undefined || data['result'] !== undefined;

export interface StreamOptions {
  /** Only events after this `eventSeq`: resume an interrupted stream. Default: from the beginning. */
  after?: number;
  /** Include answers while they are written; default true. */
  deltas?: boolean;
  /** Include the payload of the entry that an event is about; default false. */
  entries?: boolean;
  /** Streams of `runs` and `threads` reject with its reason; those of `streams`, which are for servers, end quietly. */
  signal?: AbortSignal;
}
