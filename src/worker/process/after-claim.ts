import { UnrecoverableError } from 'bullmq';
import { isLanefoldError } from '../../base/errors.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import { type RunJobResult, jobId } from '../../runs/queue/job.ts';
import { type Interruption, refusedClaims, type RefusedClaim } from '../../runs/telemetry/telemetry.ts';
import { cleanText } from '../../base/checks/text.ts';
import { LimitReached } from '../../runs/limiter/limit-reached.ts';
import { Released, isLost } from '../run/held-run.ts';
import type { HeldJob } from './held-job.ts';
import { waitForLimit, limitsOfRun, settleLimits } from './limited-run.ts';
import { ToolsElsewhere } from '../run/tools-elsewhere.ts';
import { leaveToOthers, withTools } from './with-tools.ts';
import { dispatchFirst, dispatch } from '../../runs/queue/dispatch.ts';
import { releaseRun } from '../../database/store/run/requeue-runs.ts';
import type { Claim, Refusal } from '../../database/store/run/claim-run.ts';
import { delayJob } from './delay-job.ts';
import { settleRun } from '../../runs/limiter/settle-run.ts';
import { moveJob } from './move-job.ts';
import { startCompaction } from '../../runs/operations/contexts/compact.ts';
import { optionsOfLane } from '../../runs/operations/contexts/options-of-lane.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { driveRun } from '../run/drive.ts';
import { hasLeft } from './job-worker.ts';
import type { RunEnd } from '../run/run-end.ts';

/**
 * Returns a run to the queue under its current lease, once this worker has stopped working on it. Unless the worker is
 * `stopping`, the claim counts as one without progress: a run whose commits the database always rejects must end.
 *
 * @returns whether the run still belonged to this worker
 */
async function release({ deps: { db }, queue, worker, run }: HeldJob, stopping: boolean): Promise<boolean> {
  const job = await releaseRun(db, run, stopping);
  if (!job) return false;
  // before another worker asks for it: the slot may be the only one, and no worker may be left
  await run.limits?.pause({ fresh: false }).catch(worker.onError);
  await dispatchFirst(db, queue, [job]);
  return true;
}

/**
 * Decides what happens to a run that this worker cannot finish. Nothing is lost: the next worker continues from the
 * last commit. If the run no longer belongs to this worker, its job just ends; after a failover that lost commits, the
 * run is first returned to the queue, so that it need not wait for its lease to expire. A worker that is leaving, makes
 * room for a run alone or has a failing database releases the run; otherwise the lease expires and the sweep finds
 * the run.
 */
async function onInterrupted(held: HeldJob, error: unknown): Promise<RunJobResult> {
  const { worker, run } = held;
  if (error instanceof LimitReached) return waitForLimit(held, error);
  if (error instanceof ToolsElsewhere) return leaveToOthers(held, error);
  if (error instanceof UnrecoverableError) throw error;
  if (isLost(error)) {
    worker.keeper.drop(run);
    if (isLanefoldError(error, 'step_ahead')) await release(held, false).catch(() => false);
    return { status: 'lease_lost' };
  }
  const leaving = run.signal.reason instanceof Released;
  if (leaving || isTransient(error)) {
    worker.keeper.drop(run);
    const released = await release(held, leaving).catch(() => false);
    if (released && leaving) {
      worker.released += 1;
      return { status: 'released' };
    }
  }
  worker.onError(error);
  throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
}

const interruptionOf = (error: unknown): Interruption => {
  if (error instanceof Released || error instanceof LimitReached || error instanceof ToolsElsewhere) return 'released';
  return isLost(error) ? 'lost' : 'failed';
};

/** Executes a claimed run to its end, or does what a refused claim asks for. Returns the result of the job. */
export async function afterClaim(held: HeldJob, answer: Claim | Refusal, startedAt: number): Promise<RunJobResult> {
  const { worker, job, run } = held;
  const claim = answer.claimed || answer.reason !== 'unknown_tool' ? answer : await withTools(held, answer);
  const onEnd = (status: string) =>
    worker.onRunEnd?.({
      ...{ threadId: run.threadId, runId: run.runId, agent: job.data.agent, status },
      durationMs: Math.round(performance.now() - startedAt),
    });
  return claim.claimed ? executeRun(held, claim, onEnd) : afterRefusal(held, claim, onEnd);
}

async function afterRefusal(
  held: HeldJob,
  { reason, status, promoted, agent_queue: agentQueue, delay_ms: delayMs }: Refusal,
  onEnd: (status: string) => void,
): Promise<RunJobResult> {
  const { deps, queue, worker, job, token, run } = held;
  if (reason === 'early') return delayJob(job, token, delayMs);
  if (isEnding(reason)) {
    worker.telemetry.runRefused({ threadId: run.threadId, runId: run.runId, agent: job.data.agent }, reason);
    onEnd(status ?? 'failed');
  }
  if (promoted) await dispatch(deps.db, queue, promoted, worker.onError);
  if (agentQueue) await moveJob(held, agentQueue);
  // The run may have resumed and ended before this job came, or its worker may have died before it settled the run.
  if (hasEnded(status)) await settleRun(deps, run).catch(worker.onError);
  return { status: status ?? 'unknown', reason };
}

const hasEnded = (status: string | null): boolean =>
  status === null || ['completed', 'failed', 'cancelled'].includes(status);

const isEnding = (reason: string): reason is RefusedClaim => refusedClaims.some((ending) => ending === reason);

/** Executes a claimed run to its end, and returns the result of the job. */
async function executeRun(held: HeldJob, claim: Claim, onEnd: (status: string) => void): Promise<RunJobResult> {
  const { deps, queue, worker, job, run } = held;
  const { company, keeper, onError } = worker;
  const { threadId, runId } = run;
  run.lease = claim.lease;
  run.step = claim.step;
  run.isSlotWanted = () => worker.intake.isFull;
  run.telemetry = worker.telemetry.runClaimed({
    ...{ threadId, runId, agent: claim.agent, model: claim.model, contextRef: claim.context_ref },
    ...{ fresh: claim.fresh, step: claim.step, traceparent: claim.traceparent },
    queuedMs: claim.queued_ms,
  });
  keeper.hold(run, jobId(job.data));
  if (hasLeft(worker)) run.lose(new Released());
  deps.live?.committed(threadId);
  // the first step of a resumed run may merely resume it, so only the second one is progress
  let stepsToProgress = claim.fresh ? 1 : 2;
  const onStep: RunDependencies['onStep'] = (step) => {
    run.telemetry.stepCommitted(step);
    stepsToProgress -= 1;
    if (stepsToProgress === 0) company.reopen(run);
    deps.live?.committed(threadId);
  };
  try {
    deps.onHold?.(run);
    const limits = await limitsOfRun(held, claim);
    run.limits = limits;
    const end = await run.telemetry.during(() => driveRun({ ...deps, onStep }, run, claim));
    keeper.drop(run);
    run.telemetry.ended(end);
    deps.onRelease?.(run, end.run);
    void settleLimits(held, limits, claim, end).catch(onError);
    deps.live?.committed(threadId);
    onEnd(end.status);
    const goesOn = end.status === 'suspended' || end.status === 'queued';
    if (end.promoted && goesOn) await dispatchFirst(deps.db, queue, [end.promoted], onError);
    else if (end.promoted) await dispatch(deps.db, queue, end.promoted, onError);
    if (claim.options && !goesOn) deps.features?.runEnded(claim.options);
    const parent = claim.options?.parent;
    if (parent && !goesOn) await deps.waits?.childEnded(run, parent.thread_id);
    // if this fails, the next run to end asks again
    if (end.full) await requestCompaction(held, claim).catch(onError);
    return jobResult(end);
  } catch (error) {
    deps.onRelease?.(run);
    run.telemetry.interrupted(interruptionOf(error));
    return await onInterrupted(held, error);
  } finally {
    keeper.drop(run);
  }
}

const requestCompaction = ({ deps, queue, run }: HeldJob, { agent, model, context_ref: contextRef, ...claim }: Claim) =>
  startCompaction({ db: deps.db, queue, activeTraceparent: undefined }, run.threadId, {
    ...{ agent, model, contextRef, request: { cause: 'threshold' }, caller: claim.caller ?? undefined },
    options: optionsOfLane(deps.agents, agent, { agent, options: claim.options ?? {} }),
  });

/**
 * The return value of an ended run's job. Throws for a failed run, which fails its job without retries. Neither
 * contains text of the conversation: the queue would keep it after the thread is erased.
 */
function jobResult(end: RunEnd): RunJobResult {
  if (end.status === 'failed' && end.error) throw failedJob(end.error.type);
  return {
    status: end.status,
    ...(end.awaiting ? { awaiting: end.awaiting } : {}),
    ...(end.error ? { error: end.error.type } : {}),
    iterations: end.iteration,
    ...(end.usage ? { tokens: end.usage.total_tokens } : {}),
  };
}

function failedJob(type: string): UnrecoverableError {
  const error = new UnrecoverableError(type);
  // the worker's stack trace would say nothing about the run
  delete error.stack;
  return error;
}
