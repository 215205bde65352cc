import type { SnapshotRow } from '../../../src/ops/chaos/recording/conclude.ts';
import type { Body, Entry, Thread } from './state.ts';

const terminal = new Set(['request_completed', 'request_failed', 'request_cancelled']);

/** A thread as the views show it. */
export function snapshot(thread: Thread): SnapshotRow {
  return {
    id: thread.id,
    rev: thread.entries.length,
    entries: thread.entries.map(toRow),
    runs: thread.runs
      .map(({ id, status, termination_reason: reason }) => ({
        id,
        status,
        reason: reason!,
        terminal: thread.events.flatMap(({ run_id, kind }) => (run_id === id && terminal.has(kind) ? [kind] : [])),
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

const toRow = ({ seq, kind, context_ref, role, op_id, run_id, request_id, payload, refs }: Entry): Body => ({
  seq,
  kind,
  context_ref,
  role,
  op_id,
  run_id,
  request_id,
  refs,
  payload: { ...payload, ...shownIn(kind, { context_ref, role, op_id, run_id, request_id }) },
});

/** Values that are stored once, as columns, and belong to the payload of their kind. */
function shownIn(kind: string, { context_ref, role, op_id, run_id, request_id }: Body): Body {
  if (kind === 'ai_context_operation') return { op_id, context_ref };
  if (kind !== 'ai_message') return {};
  return { context_ref, role, ...(run_id === null ? {} : { run_id, request_id }) };
}
