import type { Json, JsonObject } from './message.ts';

/** The columns of `thread_entry` that the fold reads. */
export interface FoldEntry {
  seq: number;
  kind: string;
  context_ref: string | null;
  role: string | null;
  is_anchor: boolean;
  run_id: string | null;
  request_id: string | null;
  payload: JsonObject;
  refs: JsonObject;
}

/** A row of `lane_context`, without the thread. */
export interface ContextRow {
  anchor_seq: number;
  ordinal: number;
  seq: number;
  role: string;
  content: Json;
  tool_calls: Json;
  tool_call_id: string | null;
  name: string | null;
  thinking: string | null;
  reasoning_details: Json;
  provider_metadata: Json;
  run_id: string | null;
  request_id: string | null;
  refs: Json;
}

/**
 * Projects a lane as `lane_context_at` does in SQL: the lane's latest anchor up to and including `upto`, then every
 * later message of the lane, unchanged. The system prompt is the latest, by `seq`, among the prompt changes that apply
 * to the lane and the anchor's own prompt (key absent: inherit, null: none).
 *
 * Runs get their context from `lane_context_at`; this is the same rule for programs and tests that hold the entries.
 *
 * @param entries all entries of the thread in order of `seq`
 *
 * @example
 * ```ts
 * import { foldContext, type FoldEntry } from 'lanefold';
 *
 * // a row of lanefold.thread_entry
 * const asked: FoldEntry = {
 *   ...{ seq: 1, kind: 'ai_message', context_ref: 'default', role: 'user', is_anchor: false },
 *   ...{ run_id: null, request_id: null, payload: { role: 'user', content: 'Hello' }, refs: {} },
 * };
 * const [message] = foldContext([asked], 'default', 1);
 * console.log(message?.content); // Hello
 * ```
 */
export function foldContext(entries: readonly FoldEntry[], contextRef: string, upto: number): ContextRow[] {
  let anchor: FoldEntry | undefined;
  let prompt: { seq: number; value: Json } | undefined;
  let messages: FoldEntry[] = [];
  for (const entry of entries) {
    if (entry.seq > upto) break;
    if (entry.kind === 'ai_config_change') {
      const applies = entry.context_ref === null || entry.context_ref === contextRef;
      if (applies && entry.payload['field'] === 'system_prompt') {
        prompt = { seq: entry.seq, value: entry.payload['value'] ?? null };
      }
    } else if (entry.context_ref !== contextRef) {
      continue;
    } else if (entry.is_anchor) {
      anchor = entry;
      messages = [];
      const own = resultContext(entry)['system_prompt'];
      if (own !== undefined) prompt = { seq: entry.seq, value: own };
    } else if (entry.kind === 'ai_message') {
      messages.push(entry);
    }
  }
  const anchorSeq = anchor?.seq ?? -1;
  const rows: Omit<ContextRow, 'ordinal' | 'anchor_seq'>[] = [];
  if (prompt && prompt.value !== null)
    rows.push(toRow(prompt.seq, 'system', { content: prompt.value }, null, null, null));
  for (const message of anchor ? (resultContext(anchor)['entries'] as JsonObject[]) : []) {
    rows.push(
      toRow(
        anchorSeq,
        text(message['role'])!,
        message,
        text(message['run_id']),
        text(message['request_id']),
        message['refs'],
      ),
    );
  }
  for (const entry of messages)
    rows.push(toRow(entry.seq, entry.role!, entry.payload, entry.run_id, entry.request_id, entry.refs));
  return rows.map((row, ordinal) => ({ anchor_seq: anchorSeq, ordinal, ...row }));
}

const resultContext = (entry: FoldEntry): JsonObject =>
  (entry.payload['operation'] as JsonObject)['result_context'] as JsonObject;

const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

const isEmpty = (value: Json | undefined): boolean => value == null || (Array.isArray(value) && value.length === 0);

const toRow = (
  seq: number,
  role: string,
  message: JsonObject,
  runId: string | null,
  requestId: string | null,
  refs: Json | undefined,
): Omit<ContextRow, 'ordinal' | 'anchor_seq'> => ({
  seq,
  role,
  content: message['content'] ?? '',
  tool_calls: isEmpty(message['tool_calls']) ? null : message['tool_calls']!,
  tool_call_id: text(message['tool_call_id']),
  name: text(message['name']),
  thinking: text(message['thinking']),
  reasoning_details: message['reasoning_details'] ?? null,
  provider_metadata: message['provider_metadata'] ?? null,
  run_id: runId,
  request_id: requestId,
  refs: refs == null || Object.keys(refs).length === 0 ? null : refs,
});

/** The finish reasons of an answer that its model did not end: a limit or a filter did. */
const reasons = ['length', 'content_filter'] as const;

/**
 * What becomes of a run whose answer, a text, was cut. `end`: it ends with the text. `continue`: the model continues it, if the
 * limit of output tokens cut it; any other cut is an end. `fail`: the run fails with `answer_cut`.
 */
export type OnCut = 'end' | 'continue' | 'fail';

/** How an answer was cut. */
export interface AnswerCut {
  reason: (typeof reasons)[number];
  /** For `length`: the limit of output tokens, as far as it is known. */
  limit?: number;
}

/** Why an answer with this finish reason is not whole; undefined if its model ended it. */
export const cutReason = (finishReason: unknown): AnswerCut['reason'] | undefined =>
  reasons.find((reason) => reason === finishReason);

export const isCut = (finishReason: unknown): finishReason is AnswerCut['reason'] =>
  cutReason(finishReason) !== undefined;

/** A sentence for the model, or for people, that says what cut the answer. */
export const cutText = ({ reason, limit }: AnswerCut, whose: string): string => {
  if (reason === 'content_filter') return `${whose} was stopped by the content filter of the provider`;
  return `${whose} was cut off at its limit of ${limit === undefined ? '' : `${limit} `}output tokens`;
};
