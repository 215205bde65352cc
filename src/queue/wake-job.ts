import type { Clock } from '../common/clock.ts';
import { within } from '../common/time-limit.ts';
import { addJobs, answerTimeoutMs } from './add-jobs.ts';
import { jobId, type RunJob } from './job.ts';
import type { BullQueue } from './queue.ts';

/** Ends the delay of a job, or adds the job if the queue does not have it. A job that waits or is at work stays so. */
export async function wakeJob(queue: BullQueue, job: RunJob, clock: Clock): Promise<void> {
  let found = await within(answerTimeoutMs, queue.getJob(jobId(job)));
  if (!found) {
    await addJobs(queue, [job], 'back', clock);
    // the process that accepted the run may have added it in between, with its delay
    found = await within(answerTimeoutMs, queue.getJob(jobId(job)));
    if (!found || !(await within(answerTimeoutMs, found.isDelayed()))) return;
  }
  try {
    await within(answerTimeoutMs, found.promote());
  } catch (error) {
    if (await within(answerTimeoutMs, found.isDelayed())) throw error;
  }
}
