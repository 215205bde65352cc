import type { RunQueue } from '../../runs/queue/queue.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { HeldRun } from '../run/held-run.ts';
import type { JobWorker, TakenJob } from './job-worker.ts';

/** A job that a worker took, and its run. */
export interface HeldJob extends TakenJob {
  deps: RunDependencies;
  queue: RunQueue;
  worker: JobWorker;
  run: HeldRun;
  /** For a run that was started before its job: resolves once this worker processes the job, if it does. */
  processed?: Promise<TakenJob>;
}
