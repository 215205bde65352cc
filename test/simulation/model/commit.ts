import { writeCompaction } from './compactions.ts';
import { promoted } from './enqueue.ts';
import { afterFinish, terminalEvents } from './finish.ts';
import { drainInputs } from './inputs.ts';
import { jobOf } from './leases.ts';
import { trace, write } from './log.ts';
import { notHeld, refuse } from './refusal.ts';
import { hasEnded, queuedInputs, runOf, type Body, type Draft, type Run, type Thread } from './state.ts';

/** Commits one step of a run under its lease and the number of the step, once. */
export function commitStep(
  thread: Thread,
  at: number,
  runId: string,
  lease: number,
  step: number,
  ms: number,
  p: Body,
): Body {
  const run = runOf(thread, runId) ?? refuse(notHeld);
  if (run.lease !== lease || (run.status !== 'running' && step >= run.step)) refuse(notHeld);
  if (step < run.step) return toldBefore(thread, at, run, p);
  if (step > run.step) refuse('LF013');
  const cancels = run.cancel_requested_at !== null;
  if (p['handoff'] !== undefined && cancels) return { step, status: run.status, cancel_requested: true };

  const first = thread.entries.length;
  const entries = (p['entries'] ?? []) as Draft[];
  write(thread, entries, run);
  openRound(run, p, first);
  endRound(run, p, first);
  if (p['compact'] !== undefined && !cancels) writeCompaction(thread, run, p['compact']);
  const waits = queuedInputs(thread, run).length > 0;
  const continued = p['continue'] !== undefined && waits && !cancels;
  const finish = continued ? undefined : (p['finish'] as Body | undefined);
  const drains = !finish && waits && (p['drain'] === true || continued);
  const inputs = drains ? drainInputs(thread, run) : undefined;
  const status = finish ? (cancels ? 'cancelled' : finish['status']) : 'running';
  const then = finish ? terminalEvents(status) : kindsOf(continued ? p['continue'].events : p['then_events']);
  const hands = p['handoff'] !== undefined;
  const events = [...kindsOf(p['events']), ...(hands ? ['handed_over'] : [])];
  trace(thread, run, [...events, ...(inputs ?? []).map(() => 'input_injected'), ...then]);

  const next = continued ? p['continue'] : p;
  Object.assign(run, {
    step: step + 1,
    iteration: finish ? p['iteration'] : next.iteration,
    usage: p['usage'] ?? run.usage,
  });
  const answer: Body = {
    step: step + 1,
    status,
    ...(entries.length > 0 ? { seq: first } : {}),
    ...(inputs ? { inputs } : {}),
    ...(continued ? { continued: true } : {}),
  };
  if (!finish) {
    Object.assign(run, { state: next.state, lease_until: at + ms, last_commit: inputs ? answer : null });
    if (p['resumed'] !== true) run.claims = 0;
    if (p['seal'] === true && !continued) run.sealed_at ??= at;
    if (cancels) return { ...answer, cancel_requested: true };
    return hands ? handOver(thread, at, run, p['handoff'], answer) : answer;
  }
  Object.assign(run, {
    status,
    active: false,
    state: null,
    lease_until: null,
    claims: 0,
    last_commit: null,
    finished_at: at,
    sealed_at: run.sealed_at ?? at,
    termination_reason: cancels ? 'cancelled' : finish['reason'],
    error: cancels ? { type: 'cancelled', message: run.cancel_reason ?? 'user_cancelled' } : (finish['error'] ?? null),
  });
  thread.active_run_id = null;
  return { ...answer, finished: true, ...afterFinish(thread, at, run) };
}

/** Gives a run to another agent, which a worker claims it for. */
function handOver(thread: Thread, at: number, run: Run, { agent, model, options }: Body, answer: Body): Body {
  Object.assign(run, {
    agent,
    model,
    options,
    status: 'queued',
    enqueue_no: run.enqueue_no + 1,
    enqueued_at: at,
    lease_until: null,
    ready_at: at,
    worker_id: null,
    agent_version: null,
    sealed_at: null,
  });
  const given = { ...answer, status: 'queued', job: { ...jobOf(thread, run), queue_prefix: run.queue_prefix } };
  run.last_commit = given;
  return given;
}

const kindsOf = (events: Body[] | undefined): string[] => (events ?? []).map(({ k }) => k as string);

/** The answer to a step that was committed before. */
function toldBefore(thread: Thread, at: number, run: Run, p: Body): Body {
  return {
    step: run.step,
    ...run.last_commit,
    duplicate: true,
    status: run.status,
    finished: hasEnded(run),
    cancel_requested: run.cancel_requested_at !== null,
    ...placeOf(thread, run, p),
    ...(hasEnded(run) ? promoted(thread, at) : {}),
  };
}

/** Where the first entry of a step is that was the last one to write messages to its lane. */
function placeOf(thread: Thread, run: Run, p: Body): Body {
  const count = (p['entries'] ?? []).length + (run.last_commit?.['inputs'] ?? []).length;
  if ((p['entries'] ?? []).length === 0) return {};
  const messages = thread.entries.filter(
    ({ kind, context_ref }) => kind === 'ai_message' && context_ref === run.context_ref,
  );
  return { seq: messages.at(-count)?.seq ?? null };
}

function openRound(run: Run, p: Body, first: number): void {
  for (const { index, id, name } of (p['calls'] ?? []) as Body[])
    run.calls.push({
      round: p['round'],
      call_index: index,
      tool_call_id: id,
      name,
      status: 'pending',
      attempts: 0,
      duration_ms: null,
      outcome: null,
      approval: null,
      call_seq: first + (p['calls_at'] ?? 0),
      result_seq: null,
      open_until: null,
      asked: false,
    });
}

function endRound(run: Run, p: Body, first: number): void {
  const round = p['outcomes_round'] ?? p['round'];
  for (const [n, outcome] of ((p['outcomes'] ?? []) as Body[]).entries()) {
    const call = run.calls.find((other) => other.round === round && other.call_index === n);
    if (call) Object.assign(call, outcome, { outcome: null, result_seq: first + p['results_at'] + n });
  }
}
