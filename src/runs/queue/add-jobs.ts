import type { JobsOptions } from 'bullmq';
import type { Clock } from '../../base/common/clock.ts';
import { within } from '../../base/common/time-limit.ts';
import { jobId, toJob, type RunJob } from './job.ts';
import type { BullQueue, NewJob, QueueEnd } from './queue.ts';

const batchSize = 500;

/** How long the queue may take to answer; a job not added by then is left to the sweep. */
export const answerTimeoutMs = 5_000;

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
      ...{ name: 'run', data: toJob(job) },
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
    // In PostgreSQL, BullMQ first creates a sequence for ids of its own, which a role of workers may not.
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
