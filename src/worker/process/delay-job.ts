import { processClock } from '../../base/common/timer.ts';
import { DelayedError, WaitingError, type Job } from 'bullmq';
import { isLanefoldError } from '../../base/errors.ts';
import { isConnectionError, isNodeUnreachable, isTransient } from '../../database/postgres/errors.ts';
import type { Intake } from './intake.ts';
import type { JobWorker } from './job-worker.ts';

/**
 * Delay before a job is tried again, in ms. A random part of up to the same length is added, so that jobs delayed
 * together spread out.
 */
const againMs = 500;
/** The longest of these delays, after a node of a distributed database has been down for twice as long. */
const maxAgainMs = 8_000;

/**
 * Delays a job whose run could not be claimed for a transient reason. A reason that affects every run, such as a
 * restart of PostgreSQL, also pauses the intake until the database answers; a queue in the same PostgreSQL takes the
 * job back only then. A locked thread affects only its own run, and an unreachable node of a distributed database only
 * the runs of its threads.
 *
 * @throws always: `DelayedError` tells BullMQ that the job has moved
 */
export async function delayForFault(
  job: Job,
  token: string | undefined,
  intake: Intake,
  error: unknown,
): Promise<never> {
  const unreachable = isConnectionError(error) && !isNodeUnreachable(error);
  const concernsAll = unreachable || isLanefoldError(error, 'database_busy');
  const answers = concernsAll ? intake.interrupt() : Promise.resolve();
  const delay = () => moveLater(job, token, pauseAfter(error));
  await delay().catch(() => answers.then(delay));
  throw new DelayedError();
}

/** Reports an error, because BullMQ only reports that a job failed, and delays the job if it is transient. @throws always */
export function delayOrFail(
  { onError, intake }: Pick<JobWorker, 'onError' | 'intake'>,
  job: Job,
  token: string | undefined,
  error: unknown,
): Promise<never> {
  onError(error);
  if (isTransient(error)) return delayForFault(job, token, intake, error);
  throw error;
}

/**
 * Delays a job, for another worker or for this one later.
 *
 * @param then called once the job has moved; it must not throw
 * @throws always, as `delayForFault`
 */
export async function delayJob(
  job: Job,
  token: string | undefined,
  delayMs?: number,
  then?: () => Promise<void>,
): Promise<never> {
  await moveLater(job, token, delayMs);
  await then?.();
  throw new DelayedError();
}

/** Puts a job back at the front of the queue, for another worker. @throws always */
export async function releaseJob(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** Jobs of a node that is down are tried again ever more rarely, without counting the attempts of each. */
function pauseAfter(error: unknown): number {
  const downMs = Number((error as { details?: { down_ms?: number } } | undefined)?.details?.down_ms ?? 0);
  const pauseMs = Math.min(Math.max(againMs, downMs / 2), maxAgainMs);
  return Math.round(pauseMs * (1 + Math.random()));
}

const moveLater = (job: Job, token: string | undefined, delayMs = pauseAfter(undefined)): Promise<void> =>
  // BullMQ asks for a time by the clock of this process: see `bullClasses`
  job.moveToDelayed(processClock.now() + delayMs, token);
