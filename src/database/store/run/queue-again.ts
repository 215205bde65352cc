import { callRows, call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';
import type { SweepLimits } from './sweep-limits.ts';
import type { QueuedRun } from './queued-run.ts';
import type { HeldLease } from './renew-leases.ts';

/**
 * Gives a new `enqueue_no` to runs whose jobs the queue has lost, so that a late job with the old number is rejected.
 * Returns the jobs to add; skips runs that a writer holds or that another sweep has queued again.
 */
export function queueRunsAgain(
  db: Database,
  runs: readonly QueuedRun[],
  { graceMs, queuePrefix, adoptMs, adoptable, known: { strategies } }: SweepLimits,
): Promise<QueuedRun[]> {
  const p = { grace_ms: graceMs, prefix: queuePrefix, adopt_ms: adoptMs, adoptable, strategies };
  return overThreads(db, runs, { together: () => queueTogether(db, runs, p), one: (run) => queueRunAgain(db, run, p) });
}

const queueTogether = (db: Database, runs: readonly QueuedRun[], p: object): Promise<QueuedRun[]> =>
  db.query<QueuedRun>(
    'queue_runs_again',
    `select r.thread_id, r.run_id, r.agent, r.enqueue_no, r.queue_shard, q.agent_queue
     from jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int, agent_queue text)
     cross join lateral lanefold.queue_run_again(q.thread_id, q.run_id, q.enqueue_no,
       case when q.agent_queue is not null then $2::jsonb || '{"agent_queue": true}' else $2::jsonb end) r`,
    [JSON.stringify(runs), p],
  );

async function queueRunAgain(db: Database, run: QueuedRun, p: object): Promise<QueuedRun[]> {
  const { thread_id, run_id, enqueue_no, agent_queue } = run;
  const jobs = await callRows(db.query, 'queue_run_again', {
    threadId: thread_id,
    runId: run_id,
    enqueueNo: enqueue_no,
    p: agent_queue ? { ...p, agent_queue: true } : p,
  });
  return jobs.map((job) => ({ ...job, ...(agent_queue ? { agent_queue } : {}) }));
}

/**
 * Gives a run back to the queue under the lease held. Unless the worker is `stopping`, the claim counts as one without
 * progress. Undefined if this worker no longer holds the run.
 */
export async function releaseRun(db: Database, run: HeldLease, stopping: boolean): Promise<QueuedRun | undefined> {
  const [job] = await callRows(db.queryLocking, 'release_run', {
    threadId: run.threadId,
    runId: run.runId,
    lease: run.lease,
    stopping,
  });
  return job;
}

/** Resumes an unfinished run that no worker holds, at the step of a checkpoint. Returns the job it needs, if any. */
export async function resumeRun(
  db: Database,
  threadId: string,
  runId: string,
  { step, queuePrefix }: { step: number; queuePrefix: string },
): Promise<QueuedRun | undefined> {
  const result = (await call(db.queryLocking, 'resume_run', { threadId, runId, step, prefix: queuePrefix })) as {
    job?: QueuedRun;
  };
  return result.job;
}

/**
 * Records that the run waits for a worker that has these tools, as `Needs` has them, and notifies the workers that do. `lease`: that
 * of this worker, which holds the run and gives it back. Returns the queue to which its job is to be added; nothing if the run has
 * another job, has ended, or is held by another worker.
 */
export async function moveForTools(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id' | 'enqueue_no'>,
  tools: readonly string[],
  lease?: number,
): Promise<{ agent_queue?: string; cancel_requested?: true }> {
  return (await call(db.queryLocking, 'move_for_tools', {
    threadId: run.thread_id,
    runId: run.run_id,
    p: { enqueue_no: run.enqueue_no, tools, ...(lease === undefined ? {} : { lease }) },
  })) as { agent_queue?: string; cancel_requested?: true };
}

/**
 * Records that the run waits in the queue of its agent, and notifies the workers that know the agent. False if no job
 * is to be added there: the run has another job, has ended, or a worker holds it.
 */
export async function moveRun(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id' | 'enqueue_no'>,
): Promise<boolean> {
  return call(db.queryLocking, 'move_run', {
    threadId: run.thread_id,
    runId: run.run_id,
    enqueueNo: run.enqueue_no,
    patienceMs: null,
  });
}
