import { DelayedError, type Job } from 'bullmq';
import type { Intake } from './intake.ts';

/** Before a job is tried again, and once more at most, so that jobs put back together spread out. */
const againMs = 500;

/**
 * Puts back a job whose run could not be claimed for a reason that passes, such as a restart of PostgreSQL, and pauses
 * the intake until the database answers. A queue in the same PostgreSQL takes the job back only then.
 *
 * @throws always: `DelayedError` tells BullMQ that the job has moved
 */
export async function putBack(job: Job, token: string | undefined, intake: Intake): Promise<never> {
  const answers = intake.interrupt();
  const delay = () => job.moveToDelayed(Date.now() + againMs + Math.round(Math.random() * againMs), token);
  await delay().catch(() => answers.then(delay));
  throw new DelayedError();
}
