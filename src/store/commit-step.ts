import type { JsonObject, Usage } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import type { EventDraft, MachineState, RunError, StepDraft } from '../strategies/machine.ts';
import type { HeldRun } from '../runtime/run/held-run.ts';
import { packEvents } from './pack-events.ts';

export interface CommitResult {
  step: number;
  status: string;
  /** The step had been committed before: its acknowledgement was lost. */
  duplicate?: boolean;
  finished?: boolean;
  /** Input was queued: the run did not finish, or seal, but went on as the step says. */
  continued?: boolean;
  cancel_requested?: boolean;
  /** Input the commit drained, now part of the context. */
  inputs?: { seq: number; role: 'user'; content: string }[];
  /** The run that became the thread's active one and needs a job. */
  promoted?: PromotedRun;
}

/** A run that needs a job. */
export interface QueuedRun {
  thread_id: string;
  run_id: string;
  agent: string;
  enqueue_no: number;
  queue_shard: number;
}

export interface PromotedRun extends QueuedRun {
  /** Whose queue: runs of one thread may be accepted by several fleets. */
  queue_prefix: string;
}

/** Commits one step in one round trip. A lost connection is retried: the step number makes that safe. */
export async function commitStep(
  db: Database,
  run: HeldRun,
  state: MachineState,
  draft: StepDraft,
  usage?: Usage,
  {
    resumed = false,
    maxTraceEvents,
    messages,
  }: { resumed?: boolean; maxTraceEvents?: number | undefined; messages?: number } = {},
): Promise<CommitResult> {
  const body = {
    entries: draft.entries,
    events: packEvents(run.runId, draft.events, messages),
    then_events: packEvents(run.runId, draft.thenEvents, messages),
    state,
    iteration: state.iteration,
    usage,
    calls: draft.calls,
    round: draft.calls || draft.outcomes ? state.round : undefined,
    outcomes: draft.outcomes,
    results_at: draft.outcomes ? 0 : undefined,
    effects: draft.effects,
    drain: draft.drain,
    finish: draft.finish?.events
      ? { ...draft.finish, events: packEvents(run.runId, draft.finish.events) }
      : draft.finish,
    seal: draft.seal,
    continue: draft.continue && {
      ...draft.continue,
      events: packEvents(run.runId, draft.continue.events, messages),
      iteration: draft.continue.state.iteration,
    },
    // taking a run up again is no progress: a model call that kills its worker must not look like some
    resumed: resumed || undefined,
    max_events: maxTraceEvents,
  };
  const [row] = await run.persist(
    () =>
      db.query<{ result: CommitResult }>(
        'commit_step',
        'select lanefold.commit_step($1, $2, $3, $4, $5, $6) as result',
        [run.threadId, run.runId, run.lease, run.step, run.leaseMs, body],
      ),
    // a repeated commit wrote nothing, the lease neither
    ([answer]) => answer?.result.duplicate !== true,
  );
  run.step = row!.result.step;
  return row!.result;
}

/** Moves one row of the ledger: `started` before an attempt, or its outcome while siblings still run. */
export async function recordToolCall(
  db: Database,
  run: HeldRun,
  round: number,
  callIndex: number,
  row: JsonObject,
): Promise<void> {
  await run.persist(() =>
    db.query('record_tool_call', 'select lanefold.record_tool_call($1, $2, $3, $4, $5, $6, $7)', [
      run.threadId,
      run.runId,
      run.lease,
      run.leaseMs,
      round,
      callIndex,
      row,
    ]),
  );
}

export interface FinishResult {
  finished: boolean;
  status: string;
  promoted?: PromotedRun;
}

/** Ends a run by the database, which first closes its open tool group. */
export async function finishRun(
  db: Database,
  run: HeldRun,
  {
    events,
    ...end
  }: { status: 'failed' | 'cancelled'; reason: string; error: RunError; usage?: Usage; events?: EventDraft[] },
): Promise<FinishResult> {
  const [row] = await run.persist(() =>
    db.query<{ result: FinishResult }>('finish_run', 'select lanefold.finish_run($1, $2, $3, $4) as result', [
      run.threadId,
      run.runId,
      run.lease,
      { ...end, ...(events ? { events: packEvents(run.runId, events) } : {}) },
    ]),
  );
  return row!.result;
}
