import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

export interface AppendRequest {
  drafts: JsonObject[];
  expectedRev?: number | undefined;
  /** With its hash: a repeated append returns the receipt of the first one. */
  idempotencyKey?: string | undefined;
  hash?: string | undefined;
  repair?: boolean | undefined;
}

export interface AppendReceipt {
  firstSeq: number;
  rev: number;
  duplicate: boolean;
}

export async function appendEntries(db: Database, threadId: string, request: AppendRequest): Promise<AppendReceipt> {
  const { drafts, expectedRev, idempotencyKey, hash, repair } = request;
  const [row] = await db.query<{ result: { first_seq: number; rev: number; duplicate: boolean } }>(
    'append_entries',
    'select lanefold.append_entries($1, $2, $3) as result',
    [threadId, JSON.stringify(drafts), { expected_rev: expectedRev, op_id: idempotencyKey, op_hash: hash, repair }],
  );
  const { first_seq: firstSeq, rev, duplicate } = row!.result;
  return { firstSeq, rev, duplicate };
}
