import type { JsonObject } from '../../../src/agent/context/message.ts';
import { promoted } from './enqueue.ts';
import { trace, write } from './log.ts';
import { writeOperation } from './operations.ts';
import { noRun, notHeld, refuse } from './refusal.ts';
import { hasEnded, queuedInputs, runOf, type Body, type Call, type Run, type Status, type Thread } from './state.ts';

export const cancelled: Body = { status: 'cancelled', reason: 'cancelled' };

/** Ends a run outside its strategy: by its worker, or without a lease by any caller. */
export function finishRun(thread: Thread, at: number, runId: string, lease: number | null, p: Body): Body {
  const run = runOf(thread, runId) ?? refuse(noRun);
  if (hasEnded(run)) return { finished: false, status: run.status, ...promoted(thread, at) };
  if (lease !== null && (run.lease !== lease || run.status !== 'running')) refuse(notHeld);
  const cancels = run.cancel_requested_at !== null;
  const reason: string = cancels ? 'cancelled' : p['reason'];
  const status: Status = cancels ? 'cancelled' : p['status'];
  const open = run.calls.filter(({ result_seq }) => result_seq === null).sort(byPlace);
  write(
    thread,
    open.map((call) => resultOf(thread, run, call, reason)),
    run,
  );
  for (const [n, call] of open.entries()) settle(call, thread.entries.length - open.length + n);
  trace(thread, run, [
    ...((p['events'] ?? []) as Body[]).map(({ k }) => k as string),
    ...open.map(() => 'tool_completed'),
    ...terminalEvents(status),
  ]);
  const waited = run.status === 'waiting';
  Object.assign(run, {
    status,
    active: false,
    termination_reason: reason,
    usage: p['usage'] ?? run.usage,
    state: null,
    error: cancels ? { type: 'cancelled', message: run.cancel_reason ?? 'user_cancelled' } : (p['error'] ?? null),
    suspended_until: null,
    lease_until: null,
    finished_at: at,
    sealed_at: run.sealed_at ?? at,
    input: run.user_seq === null ? run.input : null,
  });
  if (thread.active_run_id === run.id) thread.active_run_id = null;
  const answer = { finished: true, status };
  return waited ? answer : { ...answer, ...afterFinish(thread, at, run) };
}

const byPlace = (a: Call, b: Call) => a.round - b.round || a.call_index - b.call_index;

const unfinished = ['pending', 'awaiting_approval', 'waiting', 'started'];

/** The message of a call whose round did not end: its stored outcome, or an error that names the reason. */
function resultOf(thread: Thread, run: Run, call: Call, reason: string) {
  const message = `The run ended (${reason}) before this tool call had a result.`;
  const error = { ok: false, error: { type: reason, message, retryable: false } };
  return {
    role: 'tool',
    context_ref: thread.entries[call.call_seq]!.context_ref,
    payload: {
      tool_call_id: call.tool_call_id,
      name: call.name,
      content: hands(call)
        ? JSON.stringify(error)
        : ((call.outcome?.['content'] as string | undefined) ?? JSON.stringify(error)),
    },
    refs: {
      iteration: run.iteration,
      ...((call.outcome && !hands(call) ? call.outcome['refs'] : { kind: statusAfter(call) }) as
        JsonObject | undefined),
    },
  };
}

/** It asked to hand the run over, which happens once its round has ended. */
const hands = ({ outcome }: Call): boolean => outcome?.['next'] !== undefined;

const statusAfter = (call: Call): string => (hands(call) ? 'abandoned' : unlessDone(call));

const unlessDone = ({ status }: Call): string =>
  unfinished.includes(status) ? (status === 'started' ? 'unknown' : 'abandoned') : status;

const settle = (call: Call, seq: number) =>
  Object.assign(call, { status: statusAfter(call), result_seq: seq, outcome: null, open_until: null });

export const terminalEvents = (status: Status): string[] => [
  status === 'completed' ? 'request_completed' : status === 'failed' ? 'request_failed' : 'request_cancelled',
  'checkpoint',
];

/** What follows the end of a run: input is dropped, the deferred operation applied, the next run promoted. */
export function afterFinish(thread: Thread, at: number, run: Run): Body {
  for (const input of queuedInputs(thread, run)) input.status = 'dropped';
  const { pending_op_id: pending } = thread;
  if (pending !== null) {
    thread.pending_op_id = null;
    const { context_ref, operation, hash } = thread.operations.get(pending)!;
    writeOperation(thread, pending, context_ref, operation!, hash);
  }
  const [next] = thread.runs
    .filter((other) => !other.active && !hasEnded(other))
    .sort((a, b) => Number(b.interrupts) - Number(a.interrupts) || a.created_at - b.created_at);
  if (!next) return {};
  Object.assign(next, { status: 'queued', active: true, enqueue_no: next.enqueue_no + 1, enqueued_at: at });
  next.ready_at = Math.max(at, next.start_at ?? at);
  if (next.options?.['active_lane']) next.context_ref = thread.active_context_ref;
  thread.active_run_id = next.id;
  return promoted(thread, at);
}

/** Ends a run that no worker holds; a running one is left to its worker. */
export function cancelRun(thread: Thread, at: number, runId: string, reason: string): Body {
  const run = runOf(thread, runId) ?? refuse(noRun);
  if (hasEnded(run)) return { status: run.status, accepted: false, ...promoted(thread, at) };
  run.cancel_requested_at ??= at;
  run.cancel_reason ??= reason;
  run.sealed_at ??= at;
  if (run.status === 'running') return { status: 'running', accepted: true };
  return { ...finishRun(thread, at, runId, null, cancelled), accepted: true };
}
