import { within } from '../common/time-limit.ts';
import { addJobs, answerTimeoutMs } from './add-jobs.ts';
import { jobId, type RunJob } from './job.ts';
import type { BullQueue } from './queue.ts';

/** Ends the delay of a job, or adds the job if the queue does not have it. A job that waits or is at work stays so. */
export async function wakeJob(queue: BullQueue, job: RunJob): Promise<void> {
  const found = await within(answerTimeoutMs, queue.getJob(jobId(job)));
  if (!found) return addJobs(queue, [job], 'back');
  try {
    await within(answerTimeoutMs, found.promote());
  } catch (error) {
    if (await within(answerTimeoutMs, found.isDelayed())) throw error;
  }
}
