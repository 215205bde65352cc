import { dispatch, dispatchFirst } from '../../runs/queue/dispatch.ts';
import type { RunJobResult } from '../../runs/queue/job.ts';
import { notifyFromHere } from '../../database/store/each-thread.ts';
import { moveRun } from '../../database/store/run/requeue-runs.ts';
import type { HeldJob } from './held-job.ts';

/** Moves a run whose agent this worker does not know. */
export async function moveToAgentQueue(held: HeldJob): Promise<RunJobResult> {
  const { deps, job } = held;
  if (!(await moveRun(deps.db, job.data))) return { status: 'unknown', reason: 'unknown_agent' };
  await moveJob(held, job.data.agent);
  return { status: 'queued', reason: 'unknown_agent' };
}

/**
 * Moves the job of a run to a queue that is processed only by workers with the agent or strategy this one
 * lacks. If adding it there fails, their next sweep adds it.
 */
export async function moveJob(
  { deps: { db }, queue, worker: { onError }, job }: HeldJob,
  agentQueue: string,
): Promise<void> {
  const { priority } = job.opts;
  const run = { ...job.data, queue_shard: 0, agent_queue: agentQueue, ...(priority ? { priority } : {}) };
  if (job.opts.lifo) await dispatchFirst(db, queue, [run], onError);
  else await dispatch(db, queue, run, onError);
  await notifyFromHere(db, 'lanefold_agent', `${queue.prefix} ${agentQueue}`);
}
