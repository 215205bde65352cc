import type { Processor, RunQueue } from '../../queue/queue.ts';
import { dispatch } from '../../queue/dispatch.ts';
import { type RunJobResult } from '../../queue/job.ts';
import { refusedClaims, type RefusedClaim } from '../../telemetry/telemetry.ts';
import type { Refusal } from '../../store/run/claim-run.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { HeldRun } from '../run/held-run.ts';
import { claimJob } from './claim-job.ts';
import { delayJob, delayOrFail, releaseJob } from './delay-job.ts';
import { executeRun } from './execute-run.ts';
import type { HeldJob } from './held-job.ts';
import { hasStopped, type JobWorker } from './job-worker.ts';
import { moveJob, moveToAgentQueue } from './move-job.ts';

/** Processes a job: claims its run, executes it to its end, and returns the result of the job. */
export function processJob(deps: RunDependencies, queue: RunQueue, worker: JobWorker): Processor {
  const { company, intake } = worker;
  return async (job, token) => {
    const { thread_id: threadId, run_id: runId } = job.data;
    const run = new HeldRun(threadId, runId, worker.leaseMs, performance.now());
    // the worker stopped or filled up while the job was in flight: another worker takes it
    if (hasStopped(worker) || !intake.enter()) return releaseJob(job, token);
    try {
      if (!company.enter(run)) return await releaseJob(job, token);
      return await processRun({ deps, queue, worker, job, token, run });
    } finally {
      company.leave(run);
      intake.leave();
    }
  };
}

async function processRun(held: HeldJob): Promise<RunJobResult> {
  const { deps, worker, job, token, run } = held;
  const { agent: name } = job.data;
  if (!deps.agents.has(name)) {
    return moveToAgentQueue(held).catch((error: unknown) => delayOrFail(worker, job, token, error));
  }
  const agent = deps.agents.get(name);
  const startedAt = performance.now();
  const onEnd = (status: string) =>
    worker.onRunEnd?.({
      ...{ threadId: run.threadId, runId: run.runId, agent: name, status },
      durationMs: Math.round(performance.now() - startedAt),
    });
  const claim = await claimJob(held, agent);
  return claim.claimed ? executeRun(held, agent, claim, onEnd) : afterRefusal(held, claim, onEnd);
}

/** Does what a refused claim asks for, and returns the result of the job. */
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
  return { status: status ?? 'unknown', reason };
}

const isEnding = (reason: string): reason is RefusedClaim => refusedClaims.some((ending) => ending === reason);
