import type { Job } from 'bullmq';
import type { Database } from '../../postgres/pool.ts';
import { dispatch, dispatchFirst } from '../../queue/dispatch.ts';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { notifyFromHere } from '../../store/each-thread.ts';
import { moveRun } from '../../store/run/requeue-runs.ts';

type MovedJob = Job<RunJob, RunJobResult>;

/** Moves a run whose agent this worker does not know. */
export async function moveToAgentQueue(
  db: Database,
  queue: RunQueue,
  job: MovedJob,
  onError: (error: unknown) => void,
): Promise<RunJobResult> {
  if (!(await moveRun(db, job.data))) return { status: 'unknown', reason: 'unknown_agent' };
  await moveJob(db, queue, job, job.data.agent, onError);
  return { status: 'queued', reason: 'unknown_agent' };
}

/**
 * Moves the job of a run to a queue that is processed only by workers with the agent or strategy this one
 * lacks. If adding it there fails, their next sweep adds it.
 */
export async function moveJob(
  db: Database,
  queue: RunQueue,
  job: MovedJob,
  agentQueue: string,
  onError: (error: unknown) => void,
): Promise<void> {
  const { priority } = job.opts;
  const run = { ...job.data, queue_shard: 0, agent_queue: agentQueue, ...(priority ? { priority } : {}) };
  if (job.opts.lifo) await dispatchFirst(db, queue, [run], onError);
  else await dispatch(db, queue, run, onError);
  await notifyFromHere(db, 'lanefold_agent', `${queue.prefix} ${agentQueue}`);
}
