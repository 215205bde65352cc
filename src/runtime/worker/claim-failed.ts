import { LanefoldError, type ErrorCode } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import { redactSecrets } from '../../redaction/error-text.ts';
import { type Refusal, claimFailed } from '../../store/run/claim-run.ts';
import { delayJob, delayOrFail } from './delay-job.ts';
import type { HeldJob } from './held-job.ts';

/** Doubles with each failed claim, so that a short database fault fails no run. */
const firstPauseMs = 500;

/**
 * Decides what happens to a run whose claim raised an error. A transient error delays the job. An error that does
 * not concern this run, such as a privilege the worker lacks, fails the job, and the sweep adds it again. Any other
 * error is counted: the run is claimed again, and ends as `claim_failed` after too many attempts.
 *
 * @throws unless this ended the run, or the run has moved on from this job
 */
export async function onClaimFailed(held: HeldJob, error: unknown): Promise<Refusal> {
  const { deps, worker, job, token, run } = held;
  const { db, redactor } = deps;
  const { threadId, runId } = run;
  if (isTransient(error) || !concernsRun(error)) return delayOrFail(worker, job, token, error);
  worker.onError(error);
  const { counted, claims, status, promoted } = await claimFailed(db, {
    ...{ threadId, runId, enqueueNo: job.data.enqueue_no, maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress },
    // PostgreSQL may quote a value in its message
    error: { type: 'claim_failed', message: redactor.text(redactSecrets(error.message)) },
  }).catch((second: unknown) => delayOrFail(worker, job, token, second));
  if (!counted) return { claimed: false, status: null, reason: 'superseded' };
  if (status === undefined) return delayJob(job, token, firstPauseMs * 2 ** claims!);
  return { claimed: false, status, reason: 'claim_failed', ...(promoted ? { promoted } : {}) };
}

/**
 * Errors of the worker, its role or its database, which the next run would hit too, and of a run or thread that no
 * longer exists.
 */
const notOfTheRun = new Set<ErrorCode>([
  ...(['database_outdated', 'lanefold_closed', 'run_not_found', 'thread_erased', 'thread_not_found'] as const),
]);

const concernsRun = (error: unknown): error is LanefoldError =>
  error instanceof LanefoldError &&
  !notOfTheRun.has(error.code) &&
  // SQLSTATE classes: 0A, not supported by the database; 42, missing privilege, function or table; 55, not ready
  !/^(0A|42|55)/.test(String(error.details?.['sqlstate'] ?? ''));
