import type { Job } from 'bullmq';
import type { Database } from '../../postgres/pool.ts';
import { dispatch, dispatchFirst } from '../../queue/dispatch.ts';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { passRunOn } from '../../store/run/pass-run-on.ts';

/**
 * Puts the job of a run whose agent this worker does not know into the queue of that agent, which only workers that know
 * it process. If it cannot be added there, their next sweep adds it.
 */
export async function passOn(
  db: Database,
  queue: RunQueue,
  job: Job<RunJob, RunJobResult>,
  onError: (error: unknown) => void,
): Promise<RunJobResult> {
  if (!(await passRunOn(db, job.data))) return { status: 'unknown', reason: 'unknown_agent' };
  const { priority } = job.opts;
  const run = { ...job.data, queue_shard: 0, agent_queue: true, ...(priority ? { priority } : {}) };
  if (job.opts.lifo) await dispatchFirst(db, queue, [run], onError);
  else await dispatch(db, queue, run, onError);
  return { status: 'queued', reason: 'unknown_agent' };
}
