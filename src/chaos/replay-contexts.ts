import { canonicalJson, canonicalMessage, contextHash } from '../context/canonical.ts';
import { foldContext, type ContextRow, type FoldEntry } from '../context/fold.ts';
import type { Message } from '../context/message.ts';
import type { Violation } from './check.ts';
import type { Watch } from './watch.ts';

const names = {
  I9: 'a context holds both or neither of a call and its result',
  I11: 'what a model was sent is what the log gives, and grows only at its end',
  view: 'the view lane_context is the fold of the log',
} as const;

const page = 200;

/** Projects every lane again, as of each model call that was answered, and compares with what was recorded then. */
export async function projectAgain(watch: Watch): Promise<{ calls: number; violations: Violation[] }> {
  const threads = await watch.query<{ id: string }>(
    'select id from lanefold.thread where erased_at is null order by id',
  );
  const found: Violation[] = [];
  let calls = 0;
  for (let from = 0; from < threads.length; from += page) {
    const ids = threads.slice(from, from + page).map(({ id }) => id);
    const entries = await watch.query<FoldEntry & { thread_id: string }>(
      `select thread_id, seq::float8, kind, context_ref, role, is_anchor, run_id, request_id, payload, refs
       from lanefold.thread_entry where thread_id = any($1) order by thread_id, seq`,
      [ids],
    );
    const heads = await watch.query<ContextRow & { thread_id: string; context_ref: string }>(
      `select thread_id, context_ref, role, content, tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata
       from lanefold.lane_context where thread_id = any($1) order by thread_id, context_ref, ordinal`,
      [ids],
    );
    const viewed = groupBy(heads, (row) => `${row.thread_id} ${row.context_ref}`);
    for (const [threadId, log] of groupBy(entries, (entry) => entry.thread_id)) {
      const result = projectThread(threadId, log);
      calls += result.calls;
      found.push(...result.violations);
      for (const contextRef of new Set(log.flatMap((entry) => entry.context_ref ?? []))) {
        const fold = toMessages(foldContext(log, contextRef, Infinity));
        const view = toMessages(viewed.get(`${threadId} ${contextRef}`) ?? []);
        // a lane that was only configured is not listed yet
        if (view.length > 0 && contextHash(fold) !== contextHash(view))
          found.push({ invariant: 'I11', name: names.view, row: { thread_id: threadId, context_ref: contextRef } });
      }
    }
  }
  return { calls, violations: found };
}

/** One thread: every answer's `context_hash` against the fold before it, and each context against the one before. */
export function projectThread(threadId: string, log: readonly FoldEntry[]): { calls: number; violations: Violation[] } {
  const violations: Violation[] = [];
  const before = new Map<string, { base: string; sent: string[] }>();
  let calls = 0;
  for (const { seq, role, context_ref: contextRef, refs } of log) {
    if (role !== 'assistant' || contextRef === null || !refs['context_hash']) continue;
    calls += 1;
    const rows = foldContext(log, contextRef, seq - 1);
    const messages = toMessages(rows);
    const breach = (invariant: 'I9' | 'I11', what: string) =>
      violations.push({ invariant, name: names[invariant], row: { thread_id: threadId, seq, what } });
    if (!isClosed(messages)) breach('I9', 'open group');
    // a budget cuts what is sent; the log has all of it
    const cut = refs['policy_hash'] !== undefined || refs['dropped'] !== undefined;
    if (!cut && contextHash(messages) !== refs['context_hash']) breach('I11', 'context_hash');
    const base = JSON.stringify([rows[0]?.anchor_seq, rows[0]?.role === 'system' ? rows[0].seq : null]);
    const sent = messages.map(canonicalJson);
    const last = before.get(contextRef);
    if (last?.base === base && !last.sent.every((message, i) => message === sent[i])) breach('I11', 'prefix');
    before.set(contextRef, { base, sent });
  }
  return { calls, violations };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const toMessages = (rows: readonly Partial<ContextRow>[]): Message[] =>
  rows.map((row) => canonicalMessage(row as Partial<Record<keyof Message, unknown>>));

/** After an assistant message with calls come its tool messages in call order, and no others anywhere. */
function isClosed(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.tool_call_id) return false;
    } else {
      if (open.length > 0) return false;
      open = message.tool_calls?.map((call) => call.id) ?? [];
    }
  }
  return open.length === 0;
}
