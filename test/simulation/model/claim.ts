import { drainInputs } from './inputs.ts';
import { promoted } from './enqueue.ts';
import { finishRun } from './finish.ts';
import { contextAt, toClaimed } from './lanes.ts';
import { isOver } from './leases.ts';
import { trace, write } from './log.ts';
import { limitsVersion } from './limits.ts';
import { compacts, hasEnded, queuedInputs, runOf, type Body, type Run, type Thread } from './state.ts';
import type { Workers } from './workers.ts';

const refused = (reason: string, status: string | null, more: Body = {}): Body => ({
  claimed: false,
  status,
  reason,
  ...more,
});

/** Gives a worker the run of its job, if nobody else holds it, and the context of its next model call. */
export function claimRun(
  thread: Thread,
  at: number,
  [runId, enqueueNo, p]: [string, number, Body],
  workers: Workers,
): Body {
  const run = runOf(thread, runId);
  if (!run) return refused('unknown', null);
  const { status } = run;
  if (run.enqueue_no !== enqueueNo) return refused('superseded', status);
  const left = status === 'running' && isOver(run, at);
  const own = status === 'running' && p['repeated'] === true && run.worker_id === p['worker_id'];
  if (!(status === 'queued' || left || own)) {
    const reason = status === 'running' ? 'leased' : 'not_queued';
    return refused(reason, status, hasEnded(run) ? promoted(thread, at) : {});
  }
  if (run.started_at === null && run.start_at !== null && run.start_at > at)
    return refused('early', status, { delay_ms: run.start_at - at });
  if (run.started_at === null && run.expires_at !== null && run.expires_at <= at)
    return ended('expired', endExpired(thread, at, run));
  if (left) trace(thread, run, ['worker_lost']);
  const lostAt = left ? Math.min(run.lease_until! - run.lease_ms, at) : run.lost_at;
  const excused = lostAt !== null && p['loss_cause'] != null ? 1 : 0;
  const counted = run.claims === 0 ? 0 : Math.max(run.claims_alone - excused, 0);
  return judge(thread, at, { run, lostAt, counted, p }, workers) ?? grant(thread, at, run, { ...p, counted });
}

/** A run that no claim advances is left for a worker without other runs, and ends after too many of those were lost. */
function judge(
  thread: Thread,
  at: number,
  { run, lostAt, counted, p }: { run: Run; lostAt: number | null; counted: number; p: Body },
  workers: Workers,
): Body | undefined {
  const most = p['max_claims_without_progress'];
  const ends = counted >= most && run.claims >= 2;
  if (run.claims < Math.max(most - 1, 1) && !ends) return undefined;
  const alone = p['alone'] === true;
  if (run.claims >= 4 * Math.max(most, 2) || (ends && (lostAt === null || alone || 'loss_cause' in p))) {
    const end = { status: 'failed', reason: 'poisoned', error: { type: 'poisoned' } };
    return ended('poisoned', finishRun(thread, at, run.id, null, end));
  }
  if (alone) return undefined;
  Object.assign(run, { status: 'queued', lease_until: null, enqueued_at: at, lost_at: lostAt });
  const cause = lostAt !== null && workers.restartedAt > lostAt ? { cause: 'database_restarted' } : {};
  const lost = lostAt === null ? {} : { lost: { worker_id: run.worker_id, seen_at: toText(lostAt), ...cause } };
  return refused('alone', 'queued', { ...lost, ...(ends ? { ends } : {}) });
}

const toText = (at: number): string => new Date(at).toISOString();

const ended = (reason: string, end: Body): Body => refused(reason, end['status'], { promoted: end['promoted'] });

/** Ends a run that no worker started in time. */
export const endExpired = (thread: Thread, at: number, run: Run): Body =>
  finishRun(thread, at, run.id, null, { status: 'failed', reason: 'error', error: { type: 'expired' } });

function grant(thread: Thread, at: number, run: Run, p: Body): Body {
  const fresh = run.started_at === null;
  if (fresh) {
    if (!compacts(run)) ask(thread, run);
    const inputs = queuedInputs(thread, run).length > 0 ? drainInputs(thread, run) : [];
    const calls = compacts(run) ? [] : ['llm_started'];
    trace(thread, run, ['request_started', ...inputs.map(() => 'input_injected'), ...calls]);
  } else if (run.agent_version !== null && run.agent_version !== p['agent_version'])
    trace(thread, run, ['version_changed']);
  // its worker was lost after progress
  if (run.status === 'running' && run.claims === 0) run.ready_at = Math.min(run.lease_until ?? at, at);
  const before = { ...run };
  Object.assign(run, {
    status: 'running',
    lease: run.lease + (p['lease_gap'] ?? 1),
    worker_id: p['worker_id'],
    lease_until: at + p['lease_ms'],
    lease_ms: p['lease_ms'],
    started_at: run.started_at ?? at,
    agent_version: p['agent_version'],
    input: null,
    expires_at: null,
    claims: run.claims + 1,
    claims_alone: p['counted'] + Number(p['alone'] === true),
    lost_at: null,
    iteration: Math.max(run.iteration, 1),
  });
  const inTools = !fresh && run.state?.['phase'] === 'tools';
  return {
    claimed: true,
    fresh,
    lease: run.lease,
    step: run.step,
    iteration: run.iteration,
    agent: run.agent,
    strategy: run.strategy,
    model: run.model,
    context_ref: run.context_ref,
    request_id: run.request_id,
    options: run.options,
    usage: run.usage,
    state: run.state,
    user_seq: run.user_seq,
    thread_state: {},
    cancel_requested: run.cancel_requested_at !== null,
    context: contextAt(thread, run.context_ref, thread.entries.length - 1).map(toClaimed),
    calls: inTools ? ledgerOf(run, run.state!['round']) : null,
    elapsed_ms: before.started_at === null ? 0 : at - before.started_at,
    queued_ms: Math.max(at - run.ready_at!, 0),
    tenant_id: 'default',
    created_at: new Date(run.created_at).toISOString(),
    waited: false,
    unknown_tools: null,
    earlier_version: before.agent_version,
    limits_version: limitsVersion,
  };
}

function ask(thread: Thread, run: Run): void {
  run.user_seq = thread.entries.length;
  const { content, refs } = run.input!;
  write(thread, [{ role: 'user', payload: { content }, refs }], run);
  thread.lanes.add(run.context_ref);
}

const ledgerOf = (run: Run, round: number): Body[] =>
  run.calls
    .filter((call) => call.round === round)
    .map(({ call_index, tool_call_id, name, status, attempts, duration_ms, outcome, approval, call_seq }) => ({
      call_index,
      tool_call_id,
      name,
      status,
      attempts,
      duration_ms,
      outcome,
      approval,
      call_seq,
    }));
