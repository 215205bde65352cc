import type { JobsOptions } from 'bullmq';
import { type Clock, within } from '../../base/common/timer.ts';
import { jobId, toJob, type RunJob, type BullQueue, type NewJob, type QueueEnd, type RunQueue } from './queue.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { findJobs, type JobPlace } from '../../database/store/run/find-jobs.ts';
import type { QueuedRun } from '../../database/store/run/queued-run.ts';

const batchSize = 500;

/** How long the queue may take to answer; a job not added by then is left to the sweep. */
export const answerTimeoutMs = 5_000;

/** Ends the delay of the job of a run of this fleet, or adds the job if it is gone. */
export const wakeRun = (queue: Pick<RunQueue, 'wake' | 'queueOf'>, run: QueuedRun): Promise<void> =>
  queue.wake({ ...run, queue: queue.queueOf(run).name });

/** Adds jobs to one queue, in their order and in few round trips. */
export async function addJobs(
  queue: BullQueue,
  jobs: readonly (RunJob & Partial<NewJob>)[],
  end: QueueEnd,
  clock: Clock,
): Promise<void> {
  // each job added to the front goes ahead of the one added before it
  const inOrder = end === 'front' ? [...jobs].reverse() : jobs;
  for (let at = 0; at < inOrder.length; at += batchSize) {
    const batch = inOrder.slice(at, at + batchSize).map((job) => ({
      name: 'run',
      data: toJob(job),
      opts: { jobId: jobId(job), attempts: 1, ...(end === 'front' ? { lifo: true } : turnOf(job, clock)) },
    }));
    await within(answerTimeoutMs, addBatch(queue, batch));
  }
}

type Batch = Parameters<BullQueue['addBulk']>[0];

async function addBatch(queue: BullQueue, batch: Batch): Promise<void> {
  try {
    if (batch.length > 1) return void (await queue.addBulk(batch));
  } catch (error) {
    // In PostgreSQL, BullMQ first creates a sequence for its own ids, which a role of workers may not.
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error;
  }
  for (const { name, data, opts } of batch) await queue.add(name, data, opts);
}

const insufficientPrivilege = '42501';

/** BullMQ counts the delay from `timestamp`, by default the time of this process. */
const turnOf = ({ priority, delay_ms }: Partial<NewJob>, clock: Clock): JobsOptions => ({
  ...(priority ? { priority } : {}),
  ...(delay_ms ? { delay: delay_ms, timestamp: clock.now() } : {}),
});

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

const page = 500;
const states = ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'] as const;

/** Yields the jobs of a queue, page by page, in whatever state they are. The queue must be at rest. */
export async function* knownJobs(queue: BullQueue): AsyncGenerator<RunJob[]> {
  for (let from = 0; ; from += page) {
    const jobs = await queue.getJobs([...states], from, from + page - 1, true);
    const found = jobs.flatMap((job) => (job ? [job.data as RunJob] : []));
    if (found.length > 0) yield found;
    if (jobs.length === 0) return;
  }
}
