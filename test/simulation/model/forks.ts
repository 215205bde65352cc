import { isClosed } from '../../../src/ops/history/checks/log.ts';
import type { JsonObject, Message } from '../../../src/agent/context/message.ts';
import { snapshotOf } from './lanes.ts';
import { write } from './log.ts';
import { otherBody, refuse } from './refusal.ts';
import { newThread, type Body, type Draft, type Thread } from './state.ts';

/** What a fork begins with: the context of each lane as of an entry. */
export function forkSource(thread: Thread, p: Body): Body {
  const seq: number = p['at_seq'] ?? thread.entries.length - 1;
  if (seq < -1 || seq >= thread.entries.length) refuse('LF014');
  const known = thread.entries.filter(
    (entry) => entry.seq <= seq && ['ai_message', 'ai_context_operation'].includes(entry.kind),
  );
  const lanes = [...thread.lanes].filter((lane) => known.some(({ context_ref }) => context_ref === lane)).sort();
  return {
    parent_thread_id: thread.id,
    fork_seq: seq,
    tenant_id: 'default',
    config: [],
    state: {},
    contents: [],
    active_context_ref: seq < thread.entries.length - 1 ? activeLaneAt(thread, seq) : thread.active_context_ref,
    lanes: lanes.map((lane) => ({ context_ref: lane, context: forkContext(thread, lane, seq, p['repair'] === true) })),
  };
}

/** A run compacts its own lane, whichever is active. */
const activeLaneAt = (thread: Thread, seq: number): string =>
  thread.entries.findLast((entry) => entry.seq <= seq && entry.kind === 'ai_context_operation' && entry.run_id === null)
    ?.context_ref ?? 'default';

function forkContext(thread: Thread, lane: string, seq: number, repairs: boolean): Body {
  const context = snapshotOf(thread, lane, seq);
  const closed = isClosed(context.entries as unknown as Message[]);
  if (!closed && !repairs) refuse('LF008');
  return { ...context, entries: (closed ? context.entries : repaired(context.entries)).map(withoutCuts) };
}

const cuts = ['dropped', 'policy_hash', 'kinds', 'kinds_cut', 'cut_moved', 'summary_role', 'prompt', 'over_budget'];

/** What a policy has cut from a call names entries of the thread that was forked. */
const withoutCuts = ({ refs, ...message }: Body): Body => ({
  ...message,
  ...(refs == null ? {} : { refs: Object.fromEntries(Object.entries(refs).filter(([key]) => !cuts.includes(key))) }),
});

/** Closes the tool group at the end of a context with error results. */
function repaired(entries: Body[]): Body[] {
  const at = entries.findLastIndex(({ tool_calls }) => tool_calls !== undefined);
  const answered = entries.length - at - 1;
  const message = 'The result of this tool call was never recorded.';
  const content = JSON.stringify({ ok: false, error: { type: 'missing_result', message, retryable: false } });
  const missing = (entries[at]!['tool_calls'] as Body[]).slice(answered).map(({ id, name }) => ({
    role: 'tool',
    tool_call_id: id,
    name,
    content,
    refs: { kind: 'repaired' },
  }));
  return [...entries, ...missing];
}

/** Creates a thread from what `forkSource` returned, once for each id. */
export function createFork(threads: Map<string, Thread>, at: number, id: string, p: Body): Body {
  const { parent_thread_id, fork_seq, lanes, active_context_ref: active, request_hash: hash = '' } = p;
  const known = threads.get(id);
  if (known) {
    if (known.parent?.thread_id !== parent_thread_id || known.parent?.seq !== fork_seq) refuse('LF002');
    if (known.parent!.hash !== hash) refuse(otherBody);
    return { id, rev: known.entries.length, created_at: shown(known), duplicate: true };
  }
  const thread = newThread(id, at);
  const all = lanes.some((lane: Body) => lane['context_ref'] === active)
    ? lanes
    : [...lanes, { context_ref: active, context: null }];
  const meta = { parent_thread_id, fork_seq };
  const drafts = (all as Body[])
    .toSorted(
      (a, b) =>
        Number(a['context_ref'] === active) - Number(b['context_ref'] === active) ||
        (a['context_ref'] < b['context_ref'] ? -1 : 1),
    )
    .map(({ context_ref, context }): Draft => {
      const own: JsonObject = context === null ? { type: 'switch' } : { type: 'replace', result_context: context };
      return {
        kind: 'ai_context_operation',
        op_id: `fork/${context_ref}`,
        context_ref,
        is_anchor: context !== null,
        payload: { operation: { ...own, reason: 'system', meta } },
      };
    });
  write(thread, drafts);
  for (const { op_id, context_ref } of drafts) {
    thread.lanes.add(context_ref!);
    const entry_seq = drafts.findIndex((draft) => draft.op_id === op_id);
    thread.operations.set(op_id!, { context_ref: context_ref!, hash, status: 'applied', operation: null, entry_seq });
  }
  Object.assign(thread, { active_context_ref: active, parent: { thread_id: parent_thread_id, seq: fork_seq, hash } });
  threads.set(id, thread);
  return { id, rev: thread.entries.length, created_at: shown(thread), duplicate: false };
}

const shown = ({ created_at }: Thread): string => new Date(created_at).toISOString();
