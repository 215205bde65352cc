import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../context-limit.ts';

export interface OperationReceipt {
  opId: string;
  /**
   * `deferred`: a run is active; the operation is applied when that run ends, unless a later one displaces it. `stale`:
   * a compaction whose `baseSeq` lies before a newer anchor or inside a tool group; nothing changed.
   */
  status: 'applied' | 'deferred' | 'duplicate' | 'stale';
  opStatus: 'pending' | 'applied' | 'superseded' | 'stale';
  seq: number | null;
}

export interface OperationRequest {
  opId: string;
  /** Undefined: the active lane. */
  contextRef: string | undefined;
  operation: JsonObject;
  /** Hash of lane and operation: reusing the `opId` with another hash is rejected. */
  hash: string;
  expectedRev?: number | undefined;
  repair?: boolean | undefined;
}

export async function applyOperation(
  db: Database,
  threadId: string,
  request: OperationRequest,
): Promise<OperationReceipt> {
  const { opId, contextRef, operation, hash, expectedRev, repair } = request;
  const context = operation['result_context'] as { entries?: JsonObject[] } | undefined;
  const { messages, contents } = outOfLine(db, context?.entries ?? []);
  const short = contents ? { ...operation, result_context: { ...context, entries: messages } } : operation;
  const options = { hash, expected_rev: expectedRev, repair, contents, ...contextLimit(db) };
  const [row] = await db.queryLocking<{ result: Record<string, never> }>(
    'apply_operation',
    'select lanefold.apply_operation($1, $2, $3, $4, $5) as result',
    [threadId, opId, contextRef ?? null, short, options],
  );
  const { status, op_status: opStatus, seq = null } = row!.result;
  return { opId, status: status!, opStatus: opStatus!, seq };
}
