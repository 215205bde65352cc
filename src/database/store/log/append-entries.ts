import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../rows.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';
import type { AppendReceipt } from './types.ts';

export interface AppendRequest {
  drafts: JsonObject[];
  expectedRev?: number | undefined;
  /** Together with `hash`: a repeated append returns the receipt of the first one. */
  idempotencyKey?: string | undefined;
  hash?: string | undefined;
  repair?: boolean | undefined;
}

interface StoredReceipt {
  first_seq: number;
  rev: number;
  duplicate: boolean;
}

export async function appendEntries(db: Database, threadId: string, request: AppendRequest): Promise<AppendReceipt> {
  const { drafts, expectedRev, idempotencyKey, hash, repair } = request;
  const { messages, contents } = outOfLine(db, drafts.map(messageOf));
  const options = {
    expected_rev: expectedRev,
    op_id: idempotencyKey,
    op_hash: hash,
    repair,
    contents,
    ...contextLimit(db),
  };
  const append = () =>
    callFunction<StoredReceipt>(db, 'append_entries', {
      threadId,
      entries: drafts.map((draft, i) => withMessage(draft, messages[i]!)),
      options,
    });
  const {
    first_seq: firstSeq,
    rev,
    duplicate,
  } = await (idempotencyKey === undefined ? append() : repeatIfLost(append));
  return { firstSeq, rev, duplicate };
}

interface Draft {
  kind?: string;
  payload?: { role?: unknown; content?: unknown };
  refs?: unknown;
}

const messageOf = ({ kind, payload, refs }: Draft) =>
  kind === 'ai_message' ? { role: payload?.role, content: payload?.content, refs } : {};

const withMessage = (draft: JsonObject, { content, refs }: { content?: unknown; refs?: unknown }): JsonObject =>
  content === undefined
    ? draft
    : ({ ...draft, payload: { ...(draft['payload'] as JsonObject), content }, refs } as JsonObject);
