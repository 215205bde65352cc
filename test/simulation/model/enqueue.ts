import { cancelRun } from './finish.ts';
import { otherBody, refuse } from './refusal.ts';
import { activeRun, compacts, hasEnded, runOf, type Body, type Run, type Thread } from './state.ts';

/** Accepts a run: once for each request, then by what `busy` says. */
export function enqueueRun(thread: Thread, at: number, p: Body): Body {
  const known = thread.runs.find(({ request_id }) => request_id === p['request_id']);
  if (known) {
    if (known.request_hash !== p['request_hash']) refuse(otherBody);
    const { id: run_id, status, enqueue_no } = known;
    return { run_id, status, enqueue_no, queue_shard: 0, duplicate: true };
  }
  const active = activeRun(thread);
  const same = p['options']?.compaction && compactionOf(thread, active, p['context_ref']);
  if (same)
    return { run_id: same.id, status: same.status, enqueue_no: same.enqueue_no, queue_shard: 0, duplicate: true };
  if (active && !compacts(active) && !['wait', 'interrupt'].includes(p['busy'])) refuse('LF004');
  const run = toRun(thread, at, p, active !== undefined);
  thread.runs.push(run);
  thread.active_run_id ??= run.id;
  const ended = active && run.interrupts ? makeWay(thread, at, run, active) : undefined;
  const { id: run_id, status } = run;
  const answer = { run_id, status, queue_shard: 0, duplicate: false, ...(ended !== undefined && { ended }) };
  return status === 'waiting' ? { ...answer, enqueue_no: 0 } : { ...answer, enqueue_no: 1, tenant_id: 'default' };
}

/** The compaction of a lane that has not ended. */
const compactionOf = (thread: Thread, active: Run | undefined, lane: string): Run | undefined =>
  [active, ...thread.runs.filter(({ status }) => status === 'waiting')].find(
    (run) => run && compacts(run) && run.context_ref === lane,
  );

function toRun(thread: Thread, at: number, p: Body, waits: boolean): Run {
  const startAt = p['delay_ms'] === undefined ? null : at + p['delay_ms'];
  const activeLane = waits && p['context_ref'] === undefined;
  return {
    id: p['run_id'],
    request_id: p['request_id'],
    request_hash: p['request_hash'],
    agent: p['agent'],
    strategy: p['strategy'],
    model: p['model'],
    context_ref: p['context_ref'] ?? thread.active_context_ref,
    input: p['input'] ?? null,
    options: activeLane ? { ...p['options'], active_lane: true } : (p['options'] ?? null),
    status: waits ? 'waiting' : 'queued',
    active: !waits,
    interrupts: waits && p['busy'] === 'interrupt',
    enqueue_no: waits ? 0 : 1,
    queue_prefix: p['queue_prefix'] ?? 'lf',
    created_at: at,
    enqueued_at: at,
    ready_at: waits ? null : Math.max(at, startAt ?? at),
    start_at: startAt,
    expires_at: p['ttl_ms'] === undefined ? null : (startAt ?? at) + p['ttl_ms'],
    started_at: null,
    finished_at: null,
    cancel_requested_at: null,
    cancel_reason: null,
    sealed_at: null,
    suspended_until: null,
    lease: 0,
    lease_until: null,
    lease_ms: 0,
    worker_id: null,
    agent_version: null,
    step: 0,
    iteration: 0,
    claims: 0,
    claims_alone: 0,
    lost_at: null,
    usage: null,
    state: null,
    last_commit: null,
    user_seq: null,
    termination_reason: null,
    error: null,
    calls: [],
  };
}

/** Ends earlier interrupts that wait, then cancels the active run. Returns the active run if it has ended. */
function makeWay(thread: Thread, at: number, run: Run, active: Run): string | undefined {
  const waiting = thread.runs.filter((other) => other !== run && !other.active && !hasEnded(other) && other.interrupts);
  for (const other of waiting) cancelRun(thread, at, other.id, 'superseded');
  const notBegun = active.interrupts && active.started_at === null;
  cancelRun(thread, at, active.id, notBegun ? 'superseded' : 'interrupted');
  return hasEnded(active) ? active.id : undefined;
}

/** The active run if no worker holds it, with what its job needs. */
export function promoted(thread: Thread, at: number): Body {
  const run = thread.active_run_id === null ? undefined : runOf(thread, thread.active_run_id);
  if (run?.status !== 'queued') return {};
  const { id: run_id, agent, enqueue_no, queue_prefix, start_at, started_at, options } = run;
  const priority = started_at === null ? options?.['priority'] : undefined;
  return {
    promoted: {
      thread_id: thread.id,
      run_id,
      agent,
      enqueue_no,
      queue_shard: 0,
      queue_prefix,
      ...(priority === undefined ? {} : { priority }),
      ...(start_at !== null && start_at > at ? { delay_ms: start_at - at } : {}),
    },
  };
}
