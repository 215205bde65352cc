import { UnrecoverableError } from 'bullmq';
import type { Claim, Refusal } from '../../database/store/run/claim-run.ts';
import { settleRun } from '../../runs/limiter/run-budget.ts';
import { startCompaction } from '../../runs/operations/contexts/compact.ts';
import { optionsOfLane } from '../../runs/operations/contexts/options-of-lane.ts';
import { dispatch, dispatchFirst } from '../../runs/queue/relay.ts';
import { jobId, type RunJobResult, type Processor, type RunQueue } from '../../runs/queue/queue.ts';
import { refusedClaims, type RefusedClaim } from '../../runs/telemetry/telemetry.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { driveRun } from '../run/drive.ts';
import { HeldRun, Released } from '../run/held-run.ts';
import type { RunEnd } from '../run/progress.ts';
import { claimJob, delayJob, delayOrFail, releaseJob } from './claim-job.ts';
import { interruptionOf, onInterrupted, moveJob, moveToAgentQueue, withTools } from './leave-run.ts';
import { hasLeft, hasStopped, type HeldJob, type JobWorker } from './intake.ts';
import { limitsOfRun, settleLimits } from './limits.ts';

/** Processes a job: claims its run, executes it to its end, and returns the result of the job. */
export function processJob(deps: RunDependencies, queue: RunQueue, worker: JobWorker): Processor {
  const { soloRuns, intake } = worker;
  return async (job, token) => {
    const started = worker.started.get(job.id!);
    if (started) {
      started.onProcess({ job, token });
      return started.running;
    }
    const { thread_id: threadId, run_id: runId } = job.data;
    const run = new HeldRun(threadId, runId, worker.leaseMs, performance.now());
    // the worker stopped or filled up while the job was in flight: another worker takes it
    if (hasStopped(worker) || !intake.enter()) return releaseJob(job, token);
    try {
      if (!soloRuns.enter(run)) return await releaseJob(job, token);
      return await processRun({ deps, queue, worker, job, token, run });
    } finally {
      soloRuns.leave(run);
      intake.leave();
    }
  };
}

async function processRun(held: HeldJob): Promise<RunJobResult> {
  const { deps, worker, job, token } = held;
  const { agent: name } = job.data;
  if (!deps.agents.has(name)) {
    return moveToAgentQueue(held).catch((error: unknown) => delayOrFail(worker, job, token, error));
  }
  const agent = deps.agents.get(name);
  const startedAt = performance.now();
  return afterClaim(held, await claimJob(held, agent), startedAt);
}

/** Executes a claimed run to its end, or does what a refused claim asks for. Returns the result of the job. */
export async function afterClaim(held: HeldJob, answer: Claim | Refusal, startedAt: number): Promise<RunJobResult> {
  const { worker, job, run } = held;
  const claim = answer.claimed || answer.reason !== 'unknown_tool' ? answer : await withTools(held, answer);
  const onEnd = (status: string) =>
    worker.onRunEnd?.({
      threadId: run.threadId,
      runId: run.runId,
      agent: job.data.agent,
      status,
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
  const { soloRuns, keeper, onError } = worker;
  const { threadId, runId } = run;
  run.lease = claim.lease;
  run.step = claim.step;
  run.isSlotWanted = () => worker.intake.isFull;
  run.telemetry = worker.telemetry.runClaimed({
    threadId,
    runId,
    agent: claim.agent,
    model: claim.model,
    contextRef: claim.context_ref,
    fresh: claim.fresh,
    step: claim.step,
    traceparent: claim.traceparent,
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
    if (stepsToProgress === 0) soloRuns.reopen(run);
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
    deps.live?.committed(threadId, { last: true });
    onEnd(end.status);
    const continues = end.status === 'suspended' || end.status === 'queued';
    if (end.promoted && continues) await dispatchFirst(deps.db, queue, [end.promoted], onError);
    else if (end.promoted) await dispatch(deps.db, queue, end.promoted, onError);
    if (claim.options && !continues) deps.features?.runEnded(claim.options);
    const parent = claim.options?.parent;
    if (parent && !continues) await deps.waits?.childEnded(run, parent.thread_id);
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
    agent,
    model,
    contextRef,
    request: { cause: 'threshold' },
    caller: claim.caller ?? undefined,
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
    ...(end.approvals ? { approvals: end.approvals } : {}),
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
