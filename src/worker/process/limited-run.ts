import { dispatch } from '../../runs/queue/dispatch.ts';
import { finishRun } from '../../database/store/run/finish-run.ts';
import { delayRun } from '../../database/store/limit/delay-run.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { versionIn } from '../../agent/definition/run-options.ts';
import type { RunJobResult } from '../../runs/queue/job.ts';
import type { LimitReached } from '../../runs/limiter/limit-reached.ts';
import type { RunEnd } from '../run/run-end.ts';
import { limitsFor, spentBy } from '../../runs/limiter/limits-for.ts';
import { settleRun } from '../../runs/limiter/settle-run.ts';
import { waitingJob, type LimitedRun } from '../../runs/limiter/limited-run.ts';
import type { RunLimits } from '../../runs/limiter/run-limits.ts';
import { longestDelayMs, waitingFor } from '../../runs/limiter/waiting-for.ts';
import { delayJob } from './delay-job.ts';
import type { HeldJob } from './held-job.ts';
import type { TakenJob } from './job-worker.ts';
import { orLate } from '../../base/common/time-limit.ts';

/** The limits of a run that was just claimed, also if there are none yet. */
export async function limitsOfRun(held: HeldJob, claim: Claim): Promise<RunLimits> {
  const { gate, counting } = held.deps;
  // a limit applies to every run that is claimed after it was set
  if (gate.version < claim.limits_version) await gate.refresh();
  const { iteration, usage, other_usage: otherUsage } = claim;
  const used = { model: claim.model, iteration, usage, otherUsage };
  return limitsFor(gate, counting, limitedRun(held, claim), used, claim.fresh);
}

const limitedRun = ({ job, queue: { prefix }, run: { threadId, runId } }: HeldJob, claim: Claim): LimitedRun => ({
  ...{ threadId, runId, tenant: claim.tenant_id, agent: claim.agent, model: claim.model },
  ...{ caller: claim.caller, createdAt: claim.created_at },
  ...{ limitKeys: claim.options?.limit_keys ?? {}, priority: claim.options?.priority ?? 0 },
  job: waitingJob(
    { name: job.queueName, prefix },
    { ...job.data, agent: claim.agent },
    {
      version: versionIn(claim.options),
      strategy: claim.options?.selection?.strategy ?? claim.strategy,
    },
  ),
});

/** A run has ended, waits, or was handed over: what it reserved returns, and what it used is settled. */
export async function settleLimits(
  held: HeldJob,
  limits: RunLimits,
  claim: Claim,
  { status, iteration, usage, otherUsage }: RunEnd,
): Promise<void> {
  if (status === 'suspended' || status === 'queued') return limits.pause({ fresh: claim.fresh });
  const spent = spentBy(limitedRun(held, claim), { model: claim.model, iteration, usage, otherUsage });
  await limits.end(spent, { fresh: claim.fresh });
}

/**
 * Has a run wait, without a worker, for the limit that refused it. First the run and its job are delayed, then the run
 * gets in line: the process that resumes it finds the job. A job whose run has a time limit returns when the limit does.
 *
 * @throws always: `DelayedError` tells BullMQ that the job has moved
 */
export async function waitForLimit(held: HeldJob, { place, delayMs }: LimitReached): Promise<RunJobResult> {
  const { deps, queue, worker, run } = held;
  const waiting = waitingFor(place, delayMs, deps.db.settings.clock);
  const { delayed, cancel_requested: cancelled } = await run.persist(() => delayRun(deps.db, run, waiting));
  if (cancelled) return endCancelled(held);
  worker.keeper.drop(run);
  if (!delayed) return { status: 'lease_lost' };
  const { job, token } = await inQueue(held);
  return delayJob(job, token, Math.min(longestDelayMs, run.clock?.leftMs ?? longestDelayMs), async () => {
    // the sweep puts a run in line, or wakes it, if this fails
    const wakes = await run.limits!.wait().catch(worker.onError);
    if (wakes) await queue.wake({ ...job.data, queue: job.queueName }).catch(worker.onError);
  });
}

/** Ends a run that was to be cancelled before it could wait. */
export async function endCancelled({ deps, queue, worker, run }: HeldJob): Promise<RunJobResult> {
  const error = { type: 'cancelled', message: 'user_cancelled' };
  const end = await run.persist(() => finishRun(deps.db, run, { status: 'cancelled', reason: 'cancelled', error }));
  worker.keeper.drop(run);
  await settleRun(deps, run).catch(worker.onError);
  if (end.promoted) await dispatch(deps.db, queue, end.promoted, worker.onError);
  return { status: 'cancelled' };
}

/**
 * The job under the lock it has in the queue. If another worker has the job of a run that was started here, it cannot be
 * delayed: it ends, and the sweep gives the run a new one.
 */
const inQueue = async (held: HeldJob): Promise<TakenJob> =>
  held.processed ? orLate(patienceMs, held.processed, () => held) : held;

const patienceMs = 1_000;
