import type { Job } from 'bullmq';
import type { RunJob, RunJobResult } from '../../runs/queue/job.ts';
import type { Telemetry } from '../../runs/telemetry/telemetry.ts';
import type { Company } from './company.ts';
import type { Intake } from './intake.ts';
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
  readonly company: Company;
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
