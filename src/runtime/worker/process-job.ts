import { refusedClaims, type RefusedClaim } from '../../telemetry/telemetry.ts';
import { WaitingError, type Job } from 'bullmq';
import type { ReadyAgent } from '../../agents/registry.ts';
import { jobId, type RunJob, type RunJobResult } from '../../queue/job.ts';
import type { Processor, RunQueue } from '../../queue/queue.ts';
import { dispatch } from '../../queue/dispatch.ts';
import { startCompaction } from '../../library/contexts/compact.ts';
import { claimRun } from '../../store/run/claim-run.ts';
import { driveRun } from '../run/drive.ts';
import { HandedOver, HeldRun, isLost } from '../run/held-run.ts';
import { executable, strategyOf } from '../run/strategy-of.ts';
import { jobLog } from '../job/log.ts';
import { jobResult } from '../job/result.ts';
import { onClaimFailed } from './claim-failed.ts';
import { interruptionOf, onInterrupted } from './lost-run.ts';
import { moveJob, passOn } from './pass-on.ts';
import { putOff, refuse } from './put-back.ts';
import { queuedMs } from './queued-ms.ts';
import type { JobWorker } from './job-worker.ts';
import type { RunDependencies } from '../run/dependencies.ts';

/** Processes a job: claims its run, drives it to its end, and returns the result of the job. */
export function processJob(deps: RunDependencies, queue: RunQueue, worker: JobWorker): Processor {
  const { company, intake, keeper, onError } = worker;

  const claim = (
    job: Job<RunJob, RunJobResult>,
    token: string | undefined,
    agent: ReadyAgent,
    run: HeldRun,
    alone: boolean,
  ) =>
    claimRun(deps.db, {
      threadId: run.threadId,
      runId: run.runId,
      enqueueNo: job.data.enqueue_no,
      workerId: worker.id,
      leaseMs: worker.leaseMs,
      prompt: agent.instructions ?? null,
      fingerprint: agent.fingerprint,
      maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress,
      alone,
      strategies: executable(deps.agents),
    }).catch((error: unknown) => onClaimFailed(deps, worker, job, token, run, error));

  const process = async (
    job: Job<RunJob, RunJobResult>,
    token: string | undefined,
    run: HeldRun,
  ): Promise<RunJobResult> => {
    const { threadId, runId } = run;
    const { agent: agentName } = job.data;
    if (!deps.agents.has(agentName)) {
      return passOn(deps.db, queue, job, onError).catch((error: unknown) => refuse(worker, job, token, error));
    }
    const agent = deps.agents.get(agentName);
    const startedAt = performance.now();
    const ended = (status: string) =>
      worker.onRunEnd?.({
        ...{ threadId, runId, agent: agentName, status },
        durationMs: Math.round(performance.now() - startedAt),
      });
    let claimed = await claim(job, token, agent, run, false);
    if (!claimed.claimed && claimed.reason === 'alone') {
      if (!(await company.clear(run))) return putOff(job, token);
      if (hasStopped(worker)) return leaveToOther(job, token);
      run.renewed(performance.now());
      claimed = await claim(job, token, agent, run, true);
    }
    if (!claimed.claimed) {
      const { reason } = claimed;
      if (reason === 'early') return putOff(job, token, claimed.delay_ms);
      if (isEnding(reason)) {
        worker.telemetry.runRefused({ threadId, runId, agent: agentName }, reason);
        ended(claimed.status ?? 'failed');
      }
      if (claimed.promoted) await dispatch(deps.db, queue, claimed.promoted, onError);
      if (claimed.agent_queue) await moveJob(deps.db, queue, job, claimed.agent_queue, onError);
      return { status: claimed.status ?? 'unknown', reason: claimed.reason };
    }
    run.lease = claimed.lease;
    run.step = claimed.step;
    run.telemetry = worker.telemetry.runClaimed({
      ...{ threadId, runId, agent: claimed.agent, model: claimed.model, contextRef: claimed.context_ref },
      ...{ fresh: claimed.fresh, step: claimed.step, traceparent: claimed.traceparent },
      queuedMs: queuedMs(job),
    });
    keeper.hold(run, jobId(job.data));
    if (hasLeft(worker)) run.lose(new HandedOver());
    const log = jobLog(job, claimed, agent, strategyOf(deps.agents, claimed));
    deps.live?.committed(threadId);
    // the first step of a resumed run may merely resume it, so only the second one is progress
    let stepsToProgress = claimed.fresh ? 1 : 2;
    const onStep: RunDependencies['onStep'] = (...step) => {
      run.telemetry.stepCommitted(step[1]);
      stepsToProgress -= 1;
      if (stepsToProgress === 0) company.reopen(run);
      log.step(...step);
      deps.live?.committed(threadId);
    };
    try {
      deps.onHold?.(run);
      const end = await run.telemetry.during(() => driveRun({ ...deps, onStep }, run, claimed));
      keeper.release(run);
      run.telemetry.ended(end);
      deps.onRelease?.(run, end.run);
      deps.live?.committed(threadId);
      ended(end.status);
      if (end.promoted) await dispatch(deps.db, queue, end.promoted, onError);
      if (end.full) {
        const { agent: of, model, context_ref: contextRef } = claimed;
        const request = { agent: of, model, contextRef, request: { cause: 'threshold' as const } };
        // if this fails, the next run to end asks again
        await startCompaction({ db: deps.db, queue, activeTraceparent: undefined }, threadId, request).catch(onError);
      }
      const shown = await log.end(end);
      return { ...jobResult(end), ...shown };
    } catch (error) {
      // people look for the last lines; after a lost lease the job may belong to another worker
      const flushed = isLost(error) ? undefined : log.close();
      deps.onRelease?.(run);
      run.telemetry.interrupted(interruptionOf(error));
      return await onInterrupted(deps, queue, worker, run, error).finally(() => flushed);
    } finally {
      log.drop();
      keeper.release(run);
    }
  };

  return async (job, token) => {
    const { thread_id: threadId, run_id: runId } = job.data;
    const run = new HeldRun(threadId, runId, worker.leaseMs, performance.now());
    // the worker stopped or filled up while the job was in flight: another worker takes it
    if (hasStopped(worker) || !intake.enter()) return leaveToOther(job, token);
    try {
      if (!company.enter(run)) return await leaveToOther(job, token);
      return await process(job, token, run);
    } finally {
      company.leave(run);
      intake.leave();
    }
  };
}

const isEnding = (reason: string): reason is RefusedClaim => refusedClaims.some((ending) => ending === reason);

/** Puts a job back at the front of the queue, for another worker. @throws always */
async function leaveToOther(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** The phase may have changed while the run waited or was being claimed. */
const hasStopped = (worker: JobWorker): boolean => worker.phase !== 'working';
const hasLeft = (worker: JobWorker): boolean => worker.phase === 'leaving';
