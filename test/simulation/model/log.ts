import { isClosed } from '../../../src/ops/history/checks/log.ts';
import type { JsonObject, Message } from '../../../src/agent/context/message.ts';
import { otherBody, refuse } from './refusal.ts';
import { activeRun, type Body, type Draft, type Run, type Thread } from './state.ts';

/** Writes entries at the end of the log; those of a run have its ids. */
export function write(thread: Thread, drafts: readonly Draft[], run?: Run): void {
  for (const { payload, refs, ...draft } of drafts) {
    thread.entries.push({
      seq: thread.entries.length,
      kind: 'ai_message',
      context_ref: run?.context_ref ?? null,
      role: null,
      op_id: null,
      run_id: run?.id ?? null,
      request_id: run?.request_id ?? null,
      is_anchor: false,
      ...draft,
      payload,
      refs: refs ?? {},
    });
  }
}

/** Writes events at the end of the trace. */
export function trace(thread: Thread, run: Run, kinds: readonly string[]): void {
  thread.events.push(...kinds.map((kind) => ({ run_id: run.id, kind })));
}

const optional = ['tool_calls', 'tool_call_id', 'name', 'thinking', 'reasoning_details', 'provider_metadata'];

/** A message of a caller as an entry. */
const messageDraft = (contextRef: string, payload: Body, refs: JsonObject | undefined): Draft => ({
  context_ref: contextRef,
  role: payload['role'],
  payload: {
    content: payload['content'] ?? '',
    ...Object.fromEntries(optional.filter((key) => payload[key] != null).map((key) => [key, payload[key]])),
  },
  refs,
});

const toDraft = ({ kind, context_ref, payload, refs }: Body): Draft =>
  kind === 'ai_message'
    ? messageDraft(context_ref ?? 'default', payload, refs)
    : { kind: kind ?? 'note', context_ref: context_ref ?? null, payload: payload ?? {}, refs };

const reserved = new Set(['ai_context_operation', 'ai_config_change', 'ai_state_change', 'thread_import', '']);

/** Appends entries of a caller: at most once for each key, and to no lane that a run is active on. */
export function appendEntries(thread: Thread, entries: readonly Body[], options: Body): Body {
  const { op_id: key, op_hash: hash = '', expected_rev: expected } = options;
  const receipt = key === undefined ? undefined : thread.receipts.get(key);
  const rev = thread.entries.length;
  if (receipt) {
    if (receipt.hash !== hash) refuse(otherBody);
    return { first_seq: receipt.first_seq, rev, duplicate: true };
  }
  if (expected !== undefined && expected !== rev) refuse('LF006');
  const drafts = entries.map(toDraft);
  const messages = drafts.filter(({ role }) => role !== undefined);
  for (const lane of new Set(messages.map((draft) => draft.context_ref!))) {
    if (activeRun(thread)?.context_ref === lane) refuse('LF005');
    const own = messages.filter((draft) => draft.context_ref === lane);
    if (!isClosed(own.map(({ role, payload }) => ({ role, ...payload }) as unknown as Message))) refuse('LF008');
  }
  if (drafts.some(({ kind }) => kind !== undefined && reserved.has(kind))) refuse('LF009');
  if (key !== undefined && drafts.length > 0) thread.receipts.set(key, { first_seq: rev, hash });
  write(thread, drafts);
  for (const { context_ref: lane } of messages) thread.lanes.add(lane!);
  return { first_seq: rev, rev: thread.entries.length, duplicate: false };
}
