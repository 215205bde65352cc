import { jobOf } from './leases.ts';
import { trace } from './log.ts';
import { noRun, notHeld, refuse } from './refusal.ts';
import { runOf, type Body, type Call, type Run, type Thread } from './state.ts';

const callOf = (run: Run, round: number, index: number): Call | undefined =>
  run.calls.find((call) => call.round === round && call.call_index === index);

/** Suspends a run until people have decided on its calls; meanwhile no worker holds it. */
export function suspendRun(thread: Thread, at: number, runId: string, lease: number, step: number, p: Body): Body {
  const run = runOf(thread, runId) ?? refuse(notHeld);
  if (run.lease !== lease || (run.status !== 'running' && step >= run.step)) refuse(notHeld);
  if (step < run.step) return { step: step + 1, status: run.status, duplicate: true };
  if (step > run.step) refuse('LF013');
  if (run.cancel_requested_at !== null) return { step, status: run.status, cancel_requested: true };
  for (const index of p['approvals'] as number[]) {
    const call = callOf(run, p['round'], index);
    if (!call || call.result_seq !== null) refuse('LF014');
    if (!call.asked) {
      Object.assign(call, { asked: true, open_until: at + p['timeout_ms'] });
      trace(thread, run, ['approval_requested']);
    }
    Object.assign(call, { status: 'awaiting_approval', approval: { requested_at: new Date(at).toISOString() } });
  }
  Object.assign(run, {
    status: 'suspended',
    step: step + 1,
    lease_until: null,
    worker_id: null,
    claims: 0,
    last_commit: null,
  });
  return { step: step + 1, ...goOn(thread, at, run, run.queue_prefix) };
}

/** A suspended run continues once none of its calls waits. */
function goOn(thread: Thread, at: number, run: Run, prefix: string): Body {
  if (run.status !== 'suspended') return { status: run.status };
  const open = run.calls.flatMap(({ open_until }) => open_until ?? []);
  if (open.length > 0) {
    run.suspended_until = Math.min(...open);
    return { status: 'suspended' };
  }
  Object.assign(run, { status: 'queued', enqueue_no: run.enqueue_no + 1, suspended_until: null, enqueued_at: at });
  run.ready_at = at;
  if (run.queue_prefix !== prefix) run.enqueued_at = at - 10_000;
  return { status: 'queued', job: { ...jobOf(thread, run), queue_prefix: run.queue_prefix } };
}

/** Records a decision on a call; the first one counts. */
export function decideToolCall(thread: Thread, at: number, runId: string, round: number, index: number, p: Body): Body {
  const run = runOf(thread, runId) ?? refuse(noRun);
  const call = callOf(run, round, index) ?? refuse('LF020');
  const { decision } = p;
  const named = `${round}.${index}`;
  const { requested_at: _, ...earlier } = call.approval ?? {};
  if (earlier['decision'] === decision) return { ...earlier, call: named, duplicate: true, status: run.status };
  if (earlier['decision'] !== undefined) refuse('LF021');
  if (call.status !== 'awaiting_approval') refuse('LF022');
  const word = {
    decision,
    by: p['by'] ?? null,
    reason: p['reason'] ?? null,
    decided_at: new Date(at).toISOString(),
  };
  const denied = decision === 'denied';
  const message = p['reason'] === undefined ? 'The call was denied.' : `The call was denied: ${p['reason']}`;
  const error = { ok: false, error: { type: 'denied', message, retryable: false } };
  Object.assign(call, {
    approval: { ...call.approval, ...word },
    status: denied ? 'denied' : 'pending',
    open_until: null,
    outcome: denied ? { content: JSON.stringify(error) } : null,
  });
  trace(thread, run, ['approval_decided']);
  return { ...word, call: named, duplicate: false, ...goOn(thread, at, run, p['queue_prefix']) };
}

/** Denies the calls whose time is up. Returns the job of a run that continues. */
export function expireWaits(thread: Thread, at: number, runId: string, prefix: string): Body | null {
  const run = runOf(thread, runId);
  if (run?.status !== 'suspended' || !(run.suspended_until! < at)) return null;
  const due = run.calls.filter(({ open_until }) => open_until !== null && open_until < at);
  const by = { decision: 'denied', by: 'lanefold', reason: 'the approval request expired', queue_prefix: prefix };
  let answer: Body | undefined;
  for (const { round, call_index } of due) answer = decideToolCall(thread, at, runId, round, call_index, by);
  return (answer ?? goOn(thread, at, run, prefix))['job'] ?? null;
}
