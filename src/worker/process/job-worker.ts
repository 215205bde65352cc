import type { Job } from 'bullmq';
import type { RunJob, RunJobResult, RunQueue } from '../../runs/queue/queue.ts';
import type { Telemetry } from '../../runs/telemetry/telemetry.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { HeldRun } from '../run/held-run.ts';
import type { Intake, SoloRuns } from './intake.ts';
import type { LeaseKeeper } from './leases.ts';
import type { EndedRun } from './options.ts';

/** A job that BullMQ has given to this worker, and its lock of the job. */
export interface TakenJob {
  job: Job<RunJob, RunJobResult>;
  token: string | undefined;
}

/** A run that was started before this worker processes its job. */
export interface StartedRun {
  running: Promise<RunJobResult>;
  onProcess(taken: TakenJob): void;
}

/** Worker state shared by its job processors. */
export interface JobWorker {
  readonly id: string;
  readonly leaseMs: number;
  readonly maxClaimsWithoutProgress: number;
  readonly keeper: LeaseKeeper;
  readonly intake: Intake;
  readonly telemetry: Telemetry;
  readonly soloRuns: SoloRuns;
  /** Runs that were started directly, by the id of their job. */
  readonly started: Map<string, StartedRun>;
  readonly onError: (error: unknown) => void;
  readonly onRunEnd?: ((end: EndedRun) => void) | undefined;
  /** `stopping`: takes no more jobs. `leaving`: the grace period is over; nothing new starts. */
  phase: 'working' | 'stopping' | 'leaving';
  released: number;
}

/** The phase may change while a run waits or is being claimed. */
export const hasStopped = (worker: JobWorker): boolean => worker.phase !== 'working';
export const hasLeft = (worker: JobWorker): boolean => worker.phase === 'leaving';

/** A job that a worker took, and its run. */
export interface HeldJob extends TakenJob {
  deps: RunDependencies;
  queue: RunQueue;
  worker: JobWorker;
  run: HeldRun;
  /** For a run that was started before its job: resolves once this worker processes the job, if it does. */
  processed?: Promise<TakenJob>;
}
