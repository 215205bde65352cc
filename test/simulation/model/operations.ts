import { isClosed } from '../../../src/ops/history/checks/log.ts';
import type { JsonObject } from '../../../src/agent/context/message.ts';
import { completed } from './compactions.ts';
import { write } from './log.ts';
import { otherBody, refuse } from './refusal.ts';
import type { Body, Thread } from './state.ts';

/** Accepts a context operation once: at once on an idle thread, else at the end of the active run. */
export function applyOperation(thread: Thread, opId: string, lane: string | null, given: Body, options: Body): Body {
  const { hash = '', expected_rev: expected } = options;
  const known = thread.operations.get(opId);
  const rev = thread.entries.length;
  if (known) {
    if (known.hash !== hash) refuse(otherBody);
    return { op_id: opId, status: 'duplicate', op_status: known.status, seq: known.entry_seq, rev };
  }
  const operation = { ...given, reason: given['reason'] ?? 'manual' };
  if (given['base_seq'] >= rev) refuse('LF010');
  if (given['type'] === 'replace' && !isClosed(given['result_context'].entries)) refuse('LF008');
  if (expected !== undefined && expected !== rev) refuse('LF006');
  const contextRef = lane ?? thread.active_context_ref;
  if (thread.active_run_id === null) {
    const seq = writeOperation(thread, opId, contextRef, operation, hash);
    if (seq === undefined) return { op_id: opId, status: 'stale', op_status: 'stale', rev };
    return { op_id: opId, status: 'applied', op_status: 'applied', seq, rev: seq + 1 };
  }
  const displaced = thread.pending_op_id === null ? undefined : thread.operations.get(thread.pending_op_id);
  if (displaced) Object.assign(displaced, { status: 'superseded', operation: null });
  thread.operations.set(opId, { context_ref: contextRef, hash, status: 'pending', operation, entry_seq: null });
  thread.pending_op_id = opId;
  return { op_id: opId, status: 'deferred', op_status: 'pending', rev };
}

/** Writes an accepted operation to the log; its lane becomes the active one. Undefined: a stale compaction. */
export function writeOperation(
  thread: Thread,
  opId: string,
  lane: string,
  given: Body,
  hash: string,
): number | undefined {
  const seq = thread.entries.length;
  const operation = given['reason'] === 'compaction' ? completed(thread, lane, given) : given;
  if (!operation) {
    thread.operations.set(opId, { context_ref: lane, hash, status: 'stale', operation: null, entry_seq: null });
    return undefined;
  }
  write(thread, [
    {
      kind: 'ai_context_operation',
      op_id: opId,
      context_ref: lane,
      is_anchor: operation['type'] === 'replace',
      payload: { operation: operation as JsonObject },
    },
  ]);
  thread.active_context_ref = lane;
  thread.lanes.add(lane);
  thread.operations.set(opId, { context_ref: lane, hash, status: 'applied', operation: null, entry_seq: seq });
  return seq;
}
