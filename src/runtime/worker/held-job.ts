import type { Job } from 'bullmq';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { HeldRun } from '../run/held-run.ts';
import type { JobWorker } from './job-worker.ts';

/** A job that a worker took, and its run. */
export interface HeldJob {
  deps: RunDependencies;
  queue: RunQueue;
  worker: JobWorker;
  job: Job<RunJob, RunJobResult>;
  /** BullMQ's lock of the job. */
  token: string | undefined;
  run: HeldRun;
  /** For a run that was started before its job: resolves once this worker processes the job, if it does. */
  processed?: Promise<Pick<HeldJob, 'job' | 'token'>>;
}
