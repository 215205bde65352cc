import type { Processor, RunQueue } from '../../runs/queue/queue.ts';
import { type RunJobResult } from '../../runs/queue/job.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { HeldRun } from '../run/held-run.ts';
import { afterClaim } from './after-claim.ts';
import { claimJob } from './claim-job.ts';
import { delayOrFail, releaseJob } from './delay-job.ts';
import type { HeldJob } from './held-job.ts';
import { hasStopped, type JobWorker } from './job-worker.ts';
import { moveToAgentQueue } from './move-job.ts';

/** Processes a job: claims its run, executes it to its end, and returns the result of the job. */
export function processJob(deps: RunDependencies, queue: RunQueue, worker: JobWorker): Processor {
  const { company, intake } = worker;
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
      if (!company.enter(run)) return await releaseJob(job, token);
      return await processRun({ deps, queue, worker, job, token, run });
    } finally {
      company.leave(run);
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
