import { DelayedError, UnrecoverableError, WaitingError, type Job } from 'bullmq';
import type { ReadyAgent } from '../../agents/registry.ts';
import { isLanefoldError } from '../../errors.ts';
import { isTransient } from '../../postgres/errors.ts';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { Processor, RunQueue } from '../../queue/queue.ts';
import { cleanText } from '../../text.ts';
import { addPromoted } from '../../queue/dispatch.ts';
import { claimRun } from '../../store/claim-run.ts';
import { driveRun } from '../run/drive.ts';
import { handOver } from './hand-over.ts';
import { HandedOver, HeldRun } from '../run/held-run.ts';
import { jobLog } from '../job/log.ts';
import { jobResult } from '../job/result.ts';
import type { LeaseKeeper } from './leases.ts';
import type { WorkerDeps } from '../run/dependencies.ts';
import type { EndedRun } from './options.ts';

/** During a rolling deployment a newer worker may know the agent: the job is passed on before the run is failed. */
const unknownAgentPasses = 30;
const unknownAgentPauseMs = 2_000;

/** The worker, as its jobs see it. */
export interface JobWorker {
  readonly id: string;
  readonly leaseMs: number;
  readonly maxFruitlessClaims: number;
  readonly keeper: LeaseKeeper;
  readonly onError: (error: unknown) => void;
  readonly onRunEnd?: ((end: EndedRun) => void) | undefined;
  /** `stopping`: no more work is taken. `leaving`: the grace is over, nothing is begun any more. */
  phase: 'working' | 'stopping' | 'leaving';
  handedOver: number;
}

/** What a worker does with a job: claims its run, drives it to its end, and tells the job how it went. */
export function processJob(deps: WorkerDeps, queue: RunQueue, worker: JobWorker): Processor {
  const { keeper, onError } = worker;

  const begin = (job: Job<RunJob, RunJobResult>, agent: ReadyAgent | undefined, run: HeldRun) =>
    claimRun(deps.db, {
      threadId: run.threadId,
      runId: run.runId,
      enqueueNo: job.data.enqueue_no,
      workerId: worker.id,
      leaseMs: worker.leaseMs,
      prompt: agent ? (agent.instructions ?? null) : undefined,
      fingerprint: agent?.fingerprint ?? '',
      maxFruitlessClaims: worker.maxFruitlessClaims,
    }).catch((error: unknown) => {
      // BullMQ tells of a failed job, not of why; the sweep gives the run out again
      onError(error);
      throw error;
    });

  /** The run could not be driven to its end here. It is safe all the same: whoever has it next goes on from its last commit. */
  const brokenOff = async (run: HeldRun, error: unknown): Promise<RunJobResult> => {
    if (error instanceof UnrecoverableError) throw error;
    if (isLanefoldError(error, 'lease_lost')) return { status: 'lease_lost' };
    const leaving = worker.phase === 'leaving';
    if (leaving || isTransient(error)) {
      keeper.release(run);
      const given = await handOver(deps.db, queue, run, leaving).catch(() => false);
      if (given && leaving) {
        worker.handedOver += 1;
        return { status: 'handed_over' };
      }
    }
    // where it was not handed over, its lease runs out and the sweep finds it
    onError(error);
    throw new UnrecoverableError(cleanText(error instanceof Error ? error.message : String(error)));
  };

  return async (job, token) => {
    if (worker.phase !== 'working') {
      // it was on its way when the worker stopped: another worker takes it
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const { thread_id: threadId, run_id: runId, agent: agentName } = job.data;
    const agent = deps.agents.has(agentName) ? deps.agents.get(agentName) : undefined;
    if (!agent && job.attemptsStarted <= unknownAgentPasses) {
      await job.moveToDelayed(Date.now() + unknownAgentPauseMs, token);
      throw new DelayedError();
    }
    const startedAt = performance.now();
    const ended = (status: string) =>
      worker.onRunEnd?.({
        ...{ threadId, runId, agent: agentName, status },
        durationMs: Math.round(performance.now() - startedAt),
      });
    const run = new HeldRun(threadId, runId, worker.leaseMs, startedAt);
    const claim = await begin(job, agent, run);
    if (!claim.claimed) {
      if (claim.reason === 'poisoned') ended(claim.status ?? 'failed');
      if (claim.promoted) await addPromoted(deps.db, queue, claim.promoted).catch(onError);
      return { status: claim.status ?? 'unknown', reason: claim.reason };
    }
    run.lease = claim.lease;
    run.step = claim.step;
    keeper.hold(run);
    if (hasLeft(worker)) run.lose(new HandedOver());
    const log = jobLog(job, claim, agent);
    deps.live?.committed(threadId);
    const onStep: WorkerDeps['onStep'] = (...step) => {
      log.step(...step);
      deps.live?.committed(threadId);
    };
    try {
      const end = await driveRun({ ...deps, onStep }, run, claim);
      keeper.release(run);
      if (end.status !== 'suspended') deps.onEnd?.(run);
      deps.live?.committed(threadId);
      ended(end.status);
      if (end.promoted) await addPromoted(deps.db, queue, end.promoted).catch(onError);
      await log.end(end);
      return jobResult(end, deps.redactor);
    } catch (error) {
      // what came last is what people look for; the job of a run that was lost may be another worker's
      const told = isLanefoldError(error, 'lease_lost') ? undefined : log.close();
      return await brokenOff(run, error).finally(() => told);
    } finally {
      log.drop();
      keeper.release(run);
    }
  };
}

/** The phase may have changed while the run was claimed. */
const hasLeft = (worker: JobWorker): boolean => worker.phase === 'leaving';
