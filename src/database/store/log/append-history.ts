import { call } from '../call.ts';
import type { JsonObject, Message } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../rows.ts';
import { repeatIfLost } from '../call-function.ts';
import { appendEntries } from './append-entries.ts';
import { type AppendReceipt } from './types.ts';

/** What an append does to the lane that shows the history. */
export interface LaneChange {
  contextRef: string;
  /** `seq` of the last message or replace of the lane as the caller knows it; -1 for none. */
  lastSeq: number;
  /** Replaces the context of the lane; `systemPrompt` undefined: the lane keeps its prompt. */
  replace?: { systemPrompt: string | null | undefined; messages: Message[] };
  append?: Message[];
}

export interface HistoryEntry {
  kind: string;
  contextRef: string;
  payload: JsonObject;
}

export interface HistoryAppend {
  entry: HistoryEntry;
  lane?: LaneChange | undefined;
  expectedRev?: number | undefined;
  /** A repeated append with the same hash returns the first receipt. */
  idempotencyKey: string;
  hash: string;
}

/**
 * Appends an entry of a history, and what it changes on its lane, as a whole or not at all. The receipt's `firstSeq` is
 * the entry; messages follow it, a replace is before it.
 *
 * @throws LanefoldError `rev_conflict` for another `expectedRev` or another end of the lane; `lane_busy`,
 * `idempotency_mismatch`, `context_too_large`, `thread_not_found`, `thread_erased`
 */
export function appendHistory(db: Database, threadId: string, request: HistoryAppend): Promise<AppendReceipt> {
  const { entry, lane, expectedRev, idempotencyKey, hash } = request;
  const own = { kind: entry.kind, context_ref: entry.contextRef, payload: entry.payload };
  if (!lane) return appendEntries(db, threadId, { drafts: [own], expectedRev, idempotencyKey, hash });
  const appended = outOfLine(db, lane.append ?? []);
  const replaced = lane.replace && outOfLine(db, lane.replace.messages);
  const contents = [...(appended.contents ?? []), ...(replaced?.contents ?? [])];
  const drafts = appended.messages.map((message: Message & { refs?: JsonObject }) => {
    const { refs, ...payload } = message;
    return { kind: 'ai_message', context_ref: lane.contextRef, payload, ...(refs ? { refs } : {}) };
  });
  const change = {
    context_ref: lane.contextRef,
    last_seq: lane.lastSeq,
    ...(replaced ? { replace: { system_prompt: lane.replace!.systemPrompt, entries: replaced.messages } } : {}),
  };
  const options = {
    expected_rev: expectedRev,
    op_id: idempotencyKey,
    op_hash: hash,
    ...(contents.length > 0 ? { contents } : {}),
    ...contextLimit(db),
  };
  return repeatIfLost(async () => {
    const result = (await call(db.queryLocking, 'append_history', {
      threadId,
      entries: JSON.stringify([own, ...drafts]),
      lane: change,
      options,
    })) as { first_seq: number; rev: number; duplicate: boolean };
    const { first_seq: firstSeq, rev, duplicate } = result;
    return { firstSeq, rev, duplicate };
  });
}
