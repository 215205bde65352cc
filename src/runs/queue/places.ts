import type { Database } from '../../database/postgres/pool.ts';
import { findJobs, type JobPlace } from '../../database/store/run/find-jobs.ts';
import type { QueuedRun } from '../../database/store/run/queued-run.ts';
import { within } from '../../base/common/time-limit.ts';
import { jobId } from './job.ts';
import { answerTimeoutMs } from './add-jobs.ts';
import type { RunQueue } from './queue.ts';

/**
 * The places of these runs' jobs, in the order of the runs. `gone`: the queue does not know the job, or the job has
 * ended. Rejects if the queue does not answer in time.
 */
export function jobPlaces(db: Database, queue: RunQueue, runs: readonly QueuedRun[]): Promise<JobPlace[]> {
  if (queue.backend === 'redis')
    return within(answerTimeoutMs, Promise.all(runs.map((run) => placeInRedis(queue, run))));
  const names = runs.map((run) => ({ queue: queue.queueOf(run).name, id: jobId(run) }));
  return findJobs(db, names);
}

/** BullMQ searches its lists for a job's state: too slow for the many waiting jobs that no worker has taken yet. */
async function placeInRedis(queue: RunQueue, run: QueuedRun): Promise<JobPlace> {
  const own = queue.queueOf(run);
  const job = await own.getJob(jobId(run));
  if (!job || job.finishedOn) return 'gone';
  if (!job.processedOn) return 'waiting';
  const state = await own.getJobState(jobId(run));
  return state === 'active' ? 'active' : ['unknown', 'completed', 'failed'].includes(state) ? 'gone' : 'waiting';
}
