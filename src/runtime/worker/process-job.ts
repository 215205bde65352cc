import { WaitingError, type Job } from 'bullmq';
import type { ReadyAgent } from '../../agents/registry.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { Processor, RunQueue } from '../../queue/queue.ts';
import { dispatch } from '../../queue/dispatch.ts';
import { claimRun } from '../../store/run/claim-run.ts';
import { passRunOn } from '../../store/run/pass-run-on.ts';
import { driveRun } from '../run/drive.ts';
import { HandedOver, HeldRun } from '../run/held-run.ts';
import { isLost } from '../run/lost.ts';
import { knownStrategyOf } from '../run/strategy-of.ts';
import { jobLog } from '../job/log.ts';
import { jobResult } from '../job/result.ts';
import { onInterrupted } from './lost-run.ts';
import { putBack } from './put-back.ts';
import type { JobWorker } from './job-worker.ts';
import type { RunDependencies } from '../run/dependencies.ts';

/** Processes a job: claims its run, drives it to its end, and returns the result of the job. */
export function processJob(deps: RunDependencies, queue: RunQueue, worker: JobWorker): Processor {
  const { intake, keeper, onError } = worker;

  /** BullMQ reports that a job failed, not why. */
  const refuse = (job: Job<RunJob, RunJobResult>, token: string | undefined, error: unknown): Promise<never> => {
    onError(error);
    if (isTransient(error)) return putBack(job, token, intake, error);
    throw error;
  };

  const claim = (
    job: Job<RunJob, RunJobResult>,
    token: string | undefined,
    agent: ReadyAgent | undefined,
    run: HeldRun,
  ) =>
    claimRun(deps.db, {
      threadId: run.threadId,
      runId: run.runId,
      enqueueNo: job.data.enqueue_no,
      workerId: worker.id,
      leaseMs: worker.leaseMs,
      prompt: agent ? (agent.instructions ?? null) : undefined,
      fingerprint: agent?.fingerprint ?? '',
      maxClaimsWithoutProgress: worker.maxClaimsWithoutProgress,
    }).catch((error: unknown) => refuse(job, token, error));

  return async (job, token) => {
    if (worker.phase !== 'working') {
      // the job was in flight when the worker stopped: another worker takes it
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const { thread_id: threadId, run_id: runId, agent: agentName } = job.data;
    const agent = deps.agents.has(agentName) ? deps.agents.get(agentName) : undefined;
    // During a rolling deployment a newer worker may know it. BullMQ's delays go by the clock of the worker that asks.
    const passedOn =
      !agent && (await passRunOn(deps.db, job.data).catch((error: unknown) => refuse(job, token, error)));
    if (passedOn) return { status: 'queued', reason: 'unknown_agent' };
    const startedAt = performance.now();
    const ended = (status: string) =>
      worker.onRunEnd?.({
        ...{ threadId, runId, agent: agentName, status },
        durationMs: Math.round(performance.now() - startedAt),
      });
    const run = new HeldRun(threadId, runId, worker.leaseMs, startedAt);
    const claimed = await claim(job, token, agent, run);
    if (!claimed.claimed) {
      if (claimed.reason === 'poisoned') ended(claimed.status ?? 'failed');
      if (claimed.promoted) await dispatch(deps.db, queue, claimed.promoted, onError);
      return { status: claimed.status ?? 'unknown', reason: claimed.reason };
    }
    run.lease = claimed.lease;
    run.step = claimed.step;
    keeper.hold(run);
    if (hasLeft(worker)) run.lose(new HandedOver());
    const log = jobLog(job, claimed, agent, knownStrategyOf(deps.agents, claimed));
    deps.live?.committed(threadId);
    const onStep: RunDependencies['onStep'] = (...step) => {
      log.step(...step);
      deps.live?.committed(threadId);
    };
    try {
      deps.onHold?.(run);
      const end = await driveRun({ ...deps, onStep }, run, claimed);
      keeper.release(run);
      deps.onRelease?.(run);
      deps.live?.committed(threadId);
      ended(end.status);
      if (end.promoted) await dispatch(deps.db, queue, end.promoted, onError);
      await log.end(end);
      return jobResult(end, deps.redactor);
    } catch (error) {
      // the last lines are what people look for; after a lost lease the job may be another worker's
      const flushed = isLost(error) ? undefined : log.close();
      deps.onRelease?.(run);
      return await onInterrupted(deps, queue, worker, run, error).finally(() => flushed);
    } finally {
      log.drop();
      keeper.release(run);
    }
  };
}

/** The phase may have changed while the run was claimed. */
const hasLeft = (worker: JobWorker): boolean => worker.phase === 'leaving';
