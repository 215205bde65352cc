import type { TraceOptions } from './trace-options.ts';

export interface WorkerOptions extends TraceOptions {
  /** Runs at work at once in this process; default 20. They mostly wait for models. */
  concurrency?: number;
  /** How long a run stays this worker's without a sign of life; default 6,000. Renewed every third of it. */
  leaseMs?: number;
  /** Pause between sweeps, ±25 %; default 2,000. */
  sweepMs?: number;
  /** How long ended jobs stay in the queue for Bull Board; default one day. */
  keepJobsMs?: number;
  /** Claims without a committed step after which a run fails as `poisoned`; default 5. */
  maxClaimsWithoutProgress?: number;
  /** How long a cancelled run may take to stop before it is ended without its worker; default 5,000. */
  cancelGraceMs?: number;
  /** How long `stop` lets runs end before it hands the rest over to other workers; default 25,000. */
  stopGraceMs?: number;
  /** Told when a run has ended in this worker, or waits for approval; must not throw. */
  onRunEnd?: (end: EndedRun) => void;
  /** Told of faults that are not a run's own: lost connections, failed sweeps. Must not throw. Default: a line on stderr. */
  onError?: (error: unknown) => void;
}

export interface EndedRun {
  threadId: string;
  runId: string;
  agent: string;
  /** `completed`, `failed` or `cancelled`; `suspended` where it waits for approval, and goes on later. */
  status: string;
  /** Since this worker took the run. */
  durationMs: number;
}

export interface RunningWorker {
  readonly id: string;
  /** Runs in the hands of this worker. */
  readonly active: number;
  /**
   * Takes no more work, lets runs end for `stopGraceMs`, and closes. What has not ended by then is broken off, and its
   * runs go back to the queue at once, for other workers; a model call is made again there, and a tool as after a crash.
   */
  stop(options?: { graceMs?: number }): Promise<StopReport>;
}

export interface StopReport {
  /** Runs given back to the queue. */
  handedOver: number;
}
