import type { AgentRegistry, ReadyAgent } from '../../agent/definition/registry.ts';
import {
  claimRun,
  claimFailed,
  type Claim,
  type ClaimTerms,
  type Refusal,
  type TermsOfAgent,
} from '../../database/store/run/claim-run.ts';
import { findLossCause, type LossCause, type LostWorker } from '../../database/store/worker/list-workers.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { executable } from '../run/open-run.ts';
import { hasStopped, type HeldJob, type JobWorker, type Intake } from './intake.ts';
import { LanefoldError, isLanefoldError, type ErrorCode } from '../../base/errors.ts';
import { isTransient, isConnectionError, isNodeUnreachable } from '../../database/postgres/errors.ts';
import { redactSecrets } from '../../base/redaction/sensitive-keys.ts';
import { processClock } from '../../base/common/timer.ts';
import { DelayedError, WaitingError, type Job } from 'bullmq';

/**
 * Claims the run of a job. A run that may crash its workers, or only shared them with such a run, is claimed alone: this
 * first finds out whether the loss of its last worker has another cause, and waits until this worker holds no other run.
 *
 * @throws if the job was delayed, released or failed
 */
export async function claimJob(held: HeldJob, agent: ReadyAgent): Promise<Claim | Refusal> {
  const { worker, job, token, run } = held;
  const claim = await claimOnce(held, agent, { alone: false });
  if (claim.claimed || claim.reason !== 'alone') return claim;
  const lossCause =
    claim.lost &&
    (await lossCauseOf(held, claim.lost).catch((error: unknown) => delayOrFail(worker, job, token, error)));
  if (claim.ends && lossCause === null) {
    // the others of this worker need not make room for a run that ends
    const end = await claimOnce(held, agent, { alone: false, lossCause });
    return end.claimed || end.reason !== 'alone' ? end : delayJob(job, token);
  }
  if (!(await worker.soloRuns.clear(run))) return delayJob(job, token);
  if (hasStopped(worker)) return releaseJob(job, token);
  run.renewed(performance.now());
  return claimOnce(held, agent, { alone: true, lossCause });
}

/** This worker may have been frozen as well. The database must know, because the worker then cannot tell what happened meanwhile. */
async function lossCauseOf({ deps: { db }, worker }: HeldJob, lost: LostWorker): Promise<LossCause | null> {
  await worker.keeper.heartbeat.tellStalls(db);
  return findLossCause(db, lost, worker.id);
}

/** What a claim says besides what follows from the worker and the agent. */
type ClaimOptions = Pick<ClaimTerms, 'alone' | 'lossCause' | 'ignoredTools'>;

export const claimOnce = (held: HeldJob, agent: ReadyAgent, options: ClaimOptions): Promise<Claim | Refusal> => {
  const { deps, worker, job, run } = held;
  return claimRun(deps.db, {
    threadId: run.threadId,
    runId: run.runId,
    enqueueNo: job.data.enqueue_no,
    ...claimTerms(deps, worker, agent),
    ...options,
  }).catch((error: unknown) => onClaimFailed(held, error));
};

/** The terms of a claim beside other runs. */
export const claimTerms = ({ agents }: RunDependencies, worker: JobWorker, agent: ReadyAgent): ClaimTerms => ({
  workerId: worker.id,
  leaseMs: worker.leaseMs,
  ...termsOf(agents, agent),
  versions: versionsOf(agents, agent.name),
  maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress,
  alone: false,
  strategies: executable(agents),
});

const termsOf = (
  { extraTools }: AgentRegistry,
  { instructions, fingerprint, version, tools }: ReadyAgent,
): TermsOfAgent => ({
  prompt: instructions ?? null,
  fingerprint,
  agentVersion: version.id,
  tools: [...new Set([...tools.keys(), ...extraTools.keys()])],
});

/** Versions without a label go by their ids. */
function versionsOf(agents: AgentRegistry, name: string): ClaimTerms['versions'] {
  const versions = agents.versions(name);
  if (versions.length < 2 && versions[0]?.version.label === undefined) return undefined;
  return Object.fromEntries(versions.map((agent) => [agent.version.label ?? agent.version.id, termsOf(agents, agent)]));
}

/** Doubles with each failed claim, so that a short database fault fails no run. */
const firstPauseMs = 500;

/**
 * Decides what happens to a run whose claim raised an error. A transient error delays the job. An error that does
 * not concern this run, such as a privilege the worker lacks, fails the job, and the sweep adds it again. Any other
 * error is counted: the run is claimed again, and ends as `claim_failed` after too many attempts.
 *
 * @throws unless this ended the run, or the run has moved on from this job
 */
async function onClaimFailed(held: HeldJob, error: unknown): Promise<Refusal> {
  const { deps, worker, job, token, run } = held;
  const { db, redactor } = deps;
  const { threadId, runId } = run;
  if (isTransient(error) || !concernsRun(error)) return delayOrFail(worker, job, token, error);
  worker.onError(error);
  const { counted, claims, status, promoted } = await claimFailed(db, {
    threadId,
    runId,
    enqueueNo: job.data.enqueue_no,
    maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress,
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
  'database_outdated',
  'lanefold_closed',
  'run_not_found',
  'thread_erased',
  'thread_not_found',
]);

const concernsRun = (error: unknown): error is LanefoldError =>
  error instanceof LanefoldError &&
  !notOfTheRun.has(error.code) &&
  // SQLSTATE classes: 0A, not supported by the database; 42, missing privilege, function or table; 55, not ready
  !/^(0A|42|55)/.test(String(error.details?.['sqlstate'] ?? ''));

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
