import { versionIn } from '../../agent/definition/run-options.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { orLate } from '../../base/common/timer.ts';
import { delayRun } from '../../database/store/limit/limited-run.ts';
import { findHoldingAccounts, findIdleAccounts, findUnlinedRuns } from '../../database/store/limit/use-limits.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { finishRun } from '../../database/store/run/finish-run.ts';
import { findUnattendedIn } from '../../runs/fleet/unattended.ts';
import { spentBy, waitingJob, type LimitedRun } from '../../runs/limiter/limited-run.ts';
import { maxDelayMs, limitedBy } from '../../runs/limiter/refusals.ts';
import type { LimitReached, RunLimits } from '../../runs/limiter/run-limits.ts';
import { limitsFor, settleRun } from '../../runs/limiter/run-budget.ts';
import { dispatch } from '../../runs/queue/relay.ts';
import { wakeRun } from '../../runs/queue/jobs-in-queue.ts';
import type { RunJobResult } from '../../runs/queue/queue.ts';
import type { WorkerPart } from '../part.ts';
import type { RunEnd } from '../run/progress.ts';
import { delayJob } from './claim-job.ts';
import type { HeldJob, TakenJob } from './intake.ts';
import type { OpenWorker } from './open-worker.ts';

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
  threadId,
  runId,
  tenant: claim.tenant_id,
  agent: claim.agent,
  model: claim.model,
  caller: claim.caller,
  createdAt: claim.created_at,
  limitKeys: claim.options?.limit_keys ?? {},
  priority: claim.options?.priority ?? 0,
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
export const waitForLimit = (held: HeldJob, { place, delayMs }: LimitReached): Promise<RunJobResult> =>
  // the sweep puts a run in line, or wakes it, if that fails
  waitOutside(held, limitedBy(place, delayMs, held.deps.db.settings.clock), maxDelayMs, () => held.run.limits!.wait());

/**
 * Returns a run to the queue until something lets it continue; its job returns after `delayMs` at the latest.
 *
 * @param waitsFor see `delay_run`
 * @param isOver called once the run waits: whether it can go on already
 * @throws always, as `waitForLimit`
 */
export async function waitOutside(
  held: HeldJob,
  waitsFor: JsonObject,
  delayMs: number,
  isOver: () => Promise<boolean>,
): Promise<RunJobResult> {
  const { deps, queue, worker, run } = held;
  const { delayed, cancel_requested: cancelled } = await run.persist(() => delayRun(deps.db, run, waitsFor));
  if (cancelled) return endCancelled(held);
  worker.keeper.drop(run);
  if (!delayed) return { status: 'lease_lost' };
  const { job, token } = await inQueue(held);
  return delayJob(job, token, Math.min(delayMs, run.clock?.leftMs ?? delayMs), async () => {
    const wakes = await isOver().catch(worker.onError);
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

/** Learns of changed limits, and repairs what processes left. */
export const limits = (open: OpenWorker): WorkerPart => ({
  channels: { lanefold_limits: () => void open.deps.gate.refresh().catch(open.options.onError) },
  sweeps: [{ work: () => sweepLimits(open) }],
  isBusy: () => open.deps.gate.isResuming,
});

/**
 * Repairs what processes left that died between a run and its limits: settles the accounts of runs that have ended,
 * returns the slots of runs that no live worker can execute while other runs wait for them, wakes delayed runs that are
 * not in line, and looks which runs in line are next.
 */
async function sweepLimits({ deps, queue, options }: OpenWorker): Promise<void> {
  const { db, gate } = deps;
  await gate.refresh();
  if (gate.version === 0) return;
  for (const { thread_id: threadId, run_id: runId } of await findIdleAccounts(db)) {
    await settleRun(deps, { threadId, runId }).catch(options.onError);
  }
  const holding = await findHoldingAccounts(db, idleMs);
  const runs = holding.map(({ thread_id: threadId, run_id: runId }) => ({ threadId, runId }));
  for (const { threadId, runId } of runs.length > 0 ? await findUnattendedIn(db, db)(runs) : []) {
    await gate.use({ thread_id: threadId, run_id: runId, pause: true, idle_ms: idleMs });
  }
  for (const run of await findUnlinedRuns(db, queue.prefix)) await wakeRun(queue, run);
  await gate.check();
}

/** An account of a run that a worker has just claimed is not idle. */
const idleMs = 5_000;
