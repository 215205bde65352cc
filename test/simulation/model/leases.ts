import { notHeld, refuse } from './refusal.ts';
import { runOf, type Body, type Run, type Thread } from './state.ts';

/** Whether a lease has run out, or ends later than any lease can, because the clock went back. */
export const isOver = ({ lease_until: until, lease_ms: ms }: Run, at: number): boolean =>
  until !== null && (until < at || until > at + 2 * ms);

const holds = (run: Run | undefined, lease: number): run is Run => run?.lease === lease && run.status === 'running';

/** Extends a lease. Answers only if the worker has to know something. */
export function renewLease(
  thread: Thread | undefined,
  at: number,
  { thread_id, run_id, lease }: Body,
  ms: number,
): Body[] {
  const run = thread && runOf(thread, run_id);
  const held = holds(run, lease);
  if (held) run.lease_until = at + ms;
  const cancels = run !== undefined && run.cancel_requested_at !== null;
  return held && !cancels ? [] : [{ thread_id, run_id, lost: !held, cancel_requested: cancels, renewed: held }];
}

/** Gives a run back to the queue under the lease held. */
export function releaseRun(thread: Thread, at: number, runId: string, lease: number, stopping: boolean): Body[] {
  const run = runOf(thread, runId);
  if (!holds(run, lease)) return [];
  Object.assign(run, { status: 'queued', enqueue_no: run.enqueue_no + 1, enqueued_at: at, lease_until: null });
  if (run.claims === 0) run.ready_at = at;
  run.claims = Math.max(run.claims - Number(stopping), 0);
  run.claims_alone = Math.max(run.claims_alone - Number(stopping), 0);
  return [{ ...jobOf(thread, run) }];
}

export const jobOf = (thread: Thread, run: Run): Body => ({
  thread_id: thread.id,
  run_id: run.id,
  agent: run.agent,
  enqueue_no: run.enqueue_no,
  queue_shard: 0,
});

/** Moves a row of the ledger; an outcome that is stored stays. */
export function recordToolCall(
  thread: Thread,
  at: number,
  [runId, lease, ms, round, index, p]: [string, number, number, number, number, Body],
): Body {
  const run = runOf(thread, runId);
  if (!holds(run, lease)) refuse(notHeld);
  const call = run.calls.find((other) => other.round === round && other.call_index === index) ?? refuse('LF013');
  run.lease_until = at + ms;
  if (call.outcome === null && call.result_seq === null)
    Object.assign(call, {
      status: p['status'],
      attempts: p['attempts'],
      duration_ms: p['duration_ms'] ?? null,
      outcome: p['outcome'] ?? null,
    });
  return { cancel_requested: run.cancel_requested_at !== null };
}

/** Gives a run whose job was lost a new number, so that its old job is refused. */
export function queueRunAgain(thread: Thread | undefined, at: number, { run_id, enqueue_no }: Body, p: Body): Body[] {
  const run = thread && runOf(thread, run_id);
  if (!run || run.enqueue_no !== enqueue_no || !['queued', 'running'].includes(run.status)) return [];
  const due = Math.abs(at - run.enqueued_at) > p['grace_ms'] && isOver(run, at);
  if (run.status === 'running' && !due) return [];
  Object.assign(run, { enqueue_no: enqueue_no + 1, enqueued_at: at });
  return [jobOf(thread!, run)];
}

/** Notes that the queue has the job of a run. */
export function markSeen(thread: Thread | undefined, at: number, { run_id, enqueue_no }: Body): void {
  const run = thread && runOf(thread, run_id);
  if (run?.active && run.enqueue_no === enqueue_no) run.enqueued_at = at;
}
