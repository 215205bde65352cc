import type { Message } from '../../../src/agent/context/message.ts';
import { isClosed } from '../../../src/ops/history/checks/log.ts';
import { snapshotOf } from './lanes.ts';
import { write } from './log.ts';
import type { Body, Entry, Run, Thread } from './state.ts';

/**
 * A compaction with the messages that came after its `base_seq`. Undefined: it is stale, because the lane has a newer
 * anchor, or because the base lies inside a tool group.
 */
export function completed(thread: Thread, lane: string, operation: Body): Body | undefined {
  const { base_seq: base, result_context: summarised } = operation;
  if (base === undefined) return operation;
  const later = thread.entries.filter(({ context_ref, seq }) => context_ref === lane && seq > base);
  const messages = later.filter(({ kind }) => kind === 'ai_message').map(toMessage);
  const entries = [...summarised.entries, ...messages];
  if (later.some(({ is_anchor }) => is_anchor) || !isClosed(entries as Message[])) return undefined;
  return { ...operation, result_context: { ...summarised, entries } };
}

/** Compacts the lane of a run. False: it is stale, and nothing was written. */
export function writeCompaction(thread: Thread, run: Run, { op_id, base_seq, keep, at, summary, meta }: Body): boolean {
  const { entries } = snapshotOf(thread, run.context_ref, base_seq);
  const kept = (keep as [number, number][]).map(([first, last]) => entries.slice(first, last + 1));
  const messages = [...kept.slice(0, at).flat(), summary, ...kept.slice(at).flat()];
  const given = { type: 'replace', reason: 'compaction', base_seq, result_context: { entries: messages }, meta };
  const operation = completed(thread, run.context_ref, given);
  if (!operation) return false;
  const seq = thread.entries.length;
  write(thread, [{ kind: 'ai_context_operation', op_id, is_anchor: true, payload: { operation } }], run);
  const known = { context_ref: run.context_ref, hash: '', status: 'applied', operation: null, entry_seq: seq } as const;
  thread.operations.set(op_id, known);
  return true;
}

/** A message of the log as an anchor has it. */
const toMessage = ({ payload, role, run_id, request_id, refs }: Entry): Body => ({
  ...payload,
  role,
  ...(run_id === null ? {} : { run_id, request_id }),
  ...(Object.keys(refs).length === 0 ? {} : { refs }),
});
