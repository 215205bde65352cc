import { call } from '../call.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../rows.ts';
import type { OperationReceipt } from './types.ts';

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
  const result = (await call(db.queryLocking, 'apply_operation', {
    threadId,
    opId,
    contextRef: contextRef ?? null,
    operation: short,
    options,
  })) as Record<string, never>;
  const { status, op_status: opStatus, seq = null } = result;
  return { opId, status: status!, opStatus: opStatus!, seq };
}
