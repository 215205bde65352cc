import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { assertWhole } from '../../base/checks/values.ts';
import { LanefoldError } from '../../base/errors.ts';
import { type Logger, reportErrors } from '../../base/log/logger.ts';
import type { MetricsOptions } from '../../runs/telemetry/prometheus/open.ts';
import type { UnknownAgent } from '../../database/store/run/find-unknown-agents.ts';

export interface TraceOptions {
  /** Beyond this many events in the trace of a run, dispensable events such as `started` are left out; default 2,000. */
  maxTraceEvents?: number;
  /** Days the trace of a run is kept after its end; 0 for ever. Default `LANEFOLD_TRACE_RETENTION_DAYS`, else 30. */
  traceRetentionDays?: number;
}

export interface WorkerOptions extends TraceOptions {
  /** Runs executed at once in this process; default 20. They mostly wait for models. */
  concurrency?: number;
  /** How long a lease lasts without renewal; default 6,000. Renewed every third of it. */
  leaseMs?: number;
  /** Pause between sweeps, ±25 %; default 2,000. */
  sweepMs?: number;
  /** How long ended jobs stay in the queue for Bull Board; default one day. */
  keepJobsMs?: number;
  /**
   * How many completed jobs, and how many failed jobs, stay in each shard of the queue; default 10,000. The oldest are
   * removed first.
   */
  keepJobs?: number;
  /**
   * After this many lost claims in a row, a run fails as `poisoned`; default 5. A claim counts if its worker held no other
   * run and was lost before it committed a step.
   */
  maxClaimsWithoutProgress?: number;
  /** How long a cancelled run may take to stop before it is ended without its worker; default 5,000. */
  cancelGraceMs?: number;
  /** How long `stop` waits for runs to end before it releases the rest for other workers; default 25,000. */
  stopGraceMs?: number;
  /** How long the receiver of a webhook may take to answer, in ms; from 100 to 60,000, default 10,000. */
  webhookTimeoutMs?: number;
  /**
   * A run that no worker can execute for this long fails as `unknown_agent`, `unknown_version`, `unknown_strategy` or
   * `unknown_tool`, in ms; default: without limit. The time does not pass while the database hears no worker.
   */
  unknownAgentMs?: number;
  /**
   * Called when runs wait for what no worker has: an agent, or its version, strategy or tools. Called after some seconds, then every
   * minute. Must not throw. Default: a line in the log.
   */
  onUnknownAgent?: (agent: UnknownAgent) => void;
  /** Called when this worker has ended a run or suspended it for approval; must not throw. */
  onRunEnd?: (end: EndedRun) => void;
  /**
   * Called for errors not tied to a run: lost connections, failed sweeps. Must not throw. Default: a line in the log.
   */
  onError?: (error: unknown) => void;
  /**
   * Measures the work of this worker, for `metrics()`; default false. Each agent costs dozens of series, so only the
   * agents in `agents` have their own, by default the first 20. All other agents count as `other`.
   */
  metrics?: boolean | MetricsOptions;
}

export interface EndedRun {
  threadId: string;
  runId: string;
  agent: string;
  /** `completed`, `failed` or `cancelled`; `suspended` if it waits for approval and resumes later. */
  status: string;
  /** Since this worker claimed the run; 0 where it never did. */
  durationMs: number;
}

export interface RunningWorker {
  readonly id: string;
  /** Runs this worker holds. */
  readonly active: number;
  /** Whether the worker can take runs and keep them. Answers within 5 s; never rejects. */
  health(): Promise<WorkerHealth>;
  /** What the worker measures, as Prometheus text; empty unless it was started with `metrics`. */
  metrics(): Promise<string>;
  /**
   * Resolves once this worker has done what is due: the sweeps of a worker, and every run that waits for nothing but a worker
   * such as this one. Runs that wait for a time, a limit, an approval or an event are not due. Rejects with the reason of
   * `signal`, or once the worker has stopped.
   */
  idle(options?: { signal?: AbortSignal }): Promise<void>;
  /**
   * Takes no more jobs, waits up to `stopGraceMs` for runs to end, and closes. Runs still active then are interrupted
   * and queued again at once for other workers, which repeat the model call and treat tools as after a crash.
   */
  stop(options?: { graceMs?: number }): Promise<StopReport>;
}

/**
 * `stopping`: it takes no more jobs. `database`: PostgreSQL does not answer, or all connections are in use. `leases`:
 * none could be renewed for as long as a lease lasts. `queue`: it does not answer.
 */
export type UnreadyReason = 'stopping' | 'database' | 'leases' | 'queue';

export interface WorkerHealth {
  ready: boolean;
  /** Why it is not ready; else empty. */
  reasons: UnreadyReason[];
}

export interface StopReport {
  /** Runs released for other workers. */
  released: number;
}

/** How long a stop waits for runs, in ms. */
export const defaultStopGraceMs = 25_000;

export type WorkerSettings = ReturnType<typeof readOptions>;

/** The options of a worker with their defaults. @throws LanefoldError `invalid_input` */
export function readOptions(options: WorkerOptions, log: Logger) {
  refuseUnknownKeys('startWorker', options, optionKeys);
  checkNumbers(options);
  checkTraceLength(options);
  return {
    concurrency: options.concurrency ?? 20,
    leaseMs: options.leaseMs ?? 6_000,
    sweepMs: options.sweepMs ?? 2_000,
    keepJobsMs: options.keepJobsMs ?? 86_400_000,
    keepJobs: options.keepJobs ?? 10_000,
    maxClaimsWithoutProgress: options.maxClaimsWithoutProgress ?? 5,
    cancelGraceMs: options.cancelGraceMs ?? 5_000,
    stopGraceMs: options.stopGraceMs ?? defaultStopGraceMs,
    unknownAgentMs: options.unknownAgentMs,
    retentionDays: retentionDaysOf(options),
    maxTraceEvents: options.maxTraceEvents,
    metrics: options.metrics ?? false,
    onRunEnd: options.onRunEnd,
    onError: options.onError ?? reportErrors(log, 'worker'),
    onUnknownAgent: options.onUnknownAgent,
  };
}

export const optionKeys: KeysOf<WorkerOptions> = {
  metrics: true,
  concurrency: true,
  leaseMs: true,
  sweepMs: true,
  keepJobsMs: true,
  keepJobs: true,
  maxClaimsWithoutProgress: true,
  cancelGraceMs: true,
  stopGraceMs: true,
  webhookTimeoutMs: true,
  unknownAgentMs: true,
  onUnknownAgent: true,
  onRunEnd: true,
  onError: true,
  traceRetentionDays: true,
  maxTraceEvents: true,
};

/** What PostgreSQL stores in an integer; as milliseconds, 24 days. */
const maxInteger = 2 ** 31 - 1;
const minimums = {
  concurrency: 1,
  keepJobs: 0,
  maxClaimsWithoutProgress: 1,
  leaseMs: 100,
  sweepMs: 1,
  keepJobsMs: 0,
  cancelGraceMs: 0,
  stopGraceMs: 0,
  unknownAgentMs: 0,
} as const satisfies Partial<Record<keyof WorkerOptions, number>>;

function checkNumbers(options: WorkerOptions): void {
  for (const [name, minimum] of Object.entries(minimums)) {
    const limits = { minimum, maximum: maxInteger, hint: 'Omit it for the default.' };
    assertWhole(options[name as keyof typeof minimums], name, limits);
  }
  assertWhole(options.webhookTimeoutMs, 'webhookTimeoutMs', {
    minimum: 100,
    maximum: 60_000,
    hint: 'Omit it for the default of 10,000.',
  });
}

function checkTraceLength({ maxTraceEvents }: TraceOptions): void {
  if (maxTraceEvents === undefined || (Number.isInteger(maxTraceEvents) && maxTraceEvents >= 1)) return;
  const message = `maxTraceEvents must be a whole number of at least 1; got ${maxTraceEvents}.`;
  throw new LanefoldError('invalid_input', message, { hint: 'Omit it for the default of 2,000.' });
}

const defaultDays = 30;
const maxDays = 36_500;

function retentionDaysOf({ traceRetentionDays }: TraceOptions): number {
  const given = traceRetentionDays ?? (process.env['LANEFOLD_TRACE_RETENTION_DAYS'] || defaultDays);
  const days = Number(given);
  if (days >= 0 && days <= maxDays) return days;
  const message = `traceRetentionDays must be between 0 and 36,500; got ${JSON.stringify(given)}.`;
  throw new LanefoldError('invalid_input', message, {
    hint: 'Set the option or LANEFOLD_TRACE_RETENTION_DAYS; 0 keeps traces for ever.',
  });
}
