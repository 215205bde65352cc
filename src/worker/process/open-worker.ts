import { newId } from '../../base/checks/ids.ts';
import { once } from '../../base/common/promises.ts';
import type { Logger } from '../../base/log/logger.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import type { Database, DatabaseOptions } from '../../database/postgres/pool.ts';
import { recordVersions } from '../../database/store/agent/versions.ts';
import { callsAtOnce } from '../../database/store/each-thread.ts';
import { findOldestDue } from '../../database/store/run/find-oldest-due.ts';
import type { Capabilities } from '../../database/store/worker/find-lacking.ts';
import type { DirectWorker } from '../../runs/operations/runs/enqueue-request.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import { combine, type Telemetry } from '../../runs/telemetry/telemetry.ts';
import { logRuns } from '../../runs/telemetry/log-runs.ts';
import type { MetricsOptions, WorkerMetrics } from '../../runs/telemetry/prometheus/open.ts';
import type { StartPart } from '../part.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { ChildRequests } from '../waits/tell-parent.ts';
import { allVersions, capabilitiesOf, Heartbeat } from './heartbeat.ts';
import { Intake, SoloRuns, type JobWorker } from './intake.ts';
import { LeaseKeeper, renewalTimeoutMs } from './leases.ts';
import type { WorkerSettings } from './options.ts';

/** What a worker process needs beyond what its runs need. */
export interface WorkerDependencies extends RunDependencies {
  /** Opens more connections to the database of `db`. */
  connect(options: Pick<DatabaseOptions, 'max' | 'timeoutMs' | 'applicationName' | 'settings'>): Database;
  /** The queue belongs to this process alone: it adopts no runs of other fleets. */
  privateQueue?: boolean;
  /**
   * For LISTEN, which wakes workers on a cancel and announces stream readers. Without it, workers learn of cancels at
   * the next renewal, and streams have no deltas.
   */
  directUrl?: string;
  log: Logger;
  /** The workers of this process that may start the runs it accepts. */
  directWorkers?: Set<DirectWorker>;
  /** How the runs that tool calls start are requested. */
  children: ChildRequests;
  /** What features do in it. */
  parts: readonly StartPart[];
  /** Traces what the worker does. */
  telemetry?: Telemetry | undefined;
}

/** A worker that holds leases and can be seen, and does not take jobs yet. */
export interface OpenWorker {
  deps: WorkerDependencies;
  queue: RunQueue;
  options: WorkerSettings;
  /** What it can execute. */
  known: Capabilities;
  worker: JobWorker;
  metrics: WorkerMetrics | undefined;
  /** From when on sweeps have to look for runs that are queued or running. */
  since: () => Promise<string>;
  /** Records the versions of its agents, unless it has. */
  recordVersions: () => Promise<unknown>;
  /** How many transient errors its parts have reported: what they were about has to be done again. */
  faults: { count: number };
}

/** Opens what every part of a worker uses: the connection for leases, the heartbeat, telemetry, limits. */
export async function openWorker(
  deps: WorkerDependencies,
  queue: RunQueue,
  settings: WorkerSettings,
): Promise<OpenWorker> {
  const faults = { count: 0 };
  const report = (error: unknown) => {
    if (isTransient(error)) faults.count += 1;
    settings.onError(error);
  };
  const options = { ...settings, onError: report };
  const { concurrency, leaseMs, maxClaimsWithoutProgress, stopGraceMs, onError, onRunEnd } = options;
  const id = newId('worker');
  const known = capabilitiesOf(deps.agents);
  const { telemetry, metrics } = await observe(deps, options.metrics, () => keeper.size);
  const heartbeat: Heartbeat = new Heartbeat({ id, queue: queue.prefix, concurrency, ...known }, leaseMs, () => ({
    runsHeld: keeper.size,
    draining: worker.phase !== 'working',
  }));
  const keeper = new LeaseKeeper(connectForLeases(deps, leaseMs), deps.db, leaseMs, heartbeat);
  const intake = new Intake(() => keeper.renew());
  const worker: JobWorker = {
    id,
    leaseMs,
    maxClaimsWithoutProgress,
    keeper,
    intake,
    telemetry,
    soloRuns: new SoloRuns(intake, stopGraceMs),
    started: new Map(),
    onError,
    onRunEnd,
    phase: 'working',
    released: 0,
  };
  await deps.gate.refresh().catch(onError);
  return {
    deps,
    queue,
    options,
    known,
    worker,
    metrics,
    since: dueSince(deps.db),
    faults,
    recordVersions: once(() => recordVersions(deps.db, allVersions(deps.agents))),
  };
}

/** Announces the worker before it takes a job; later heartbeats ride on the renewals. Runs may have waited for it. */
export async function announce({
  deps: { gate },
  worker: { keeper, onError },
  recordVersions,
}: OpenWorker): Promise<void> {
  await keeper.heartbeat.send(keeper.own).catch(onError);
  void gate.check().catch(onError);
  // a sweep tries again
  await recordVersions().catch(() => {});
}

/** Used for leases alone: commits that wait for a locked thread must not hold them up. */
const connectForLeases = ({ connect, db: { settings } }: WorkerDependencies, leaseMs: number): Database =>
  connect({
    max: settings.distributed ? callsAtOnce : 1,
    timeoutMs: renewalTimeoutMs(leaseMs),
    settings,
    applicationName: 'lanefold leases',
  });

/** Everything that observes the runs of a worker. Traces come first, because the log refers to them. */
async function observe(
  { agents, log, telemetry }: WorkerDependencies,
  measured: boolean | MetricsOptions,
  active: () => number,
): Promise<{ telemetry: Telemetry; metrics: WorkerMetrics | undefined }> {
  // Imported on demand, so that a worker without metrics does not load it.
  const prometheus = measured ? await import('../../runs/telemetry/prometheus/open.ts') : undefined;
  const metrics = await prometheus?.workerMetrics(agents, active, measured === true ? {} : measured || {});
  const observers = [...(telemetry ? [telemetry] : []), ...(metrics ? [metrics] : []), logRuns(log)];
  return { telemetry: combine(observers), metrics };
}

/** A run that is stored long after the time it bears, or after the clock went back, may be missed for this long, in ms. */
const validMs = 15_000;

/** From when on a sweep has to look for runs that are queued or running: asked for once in a while, not by each of them. */
function dueSince(db: Database): () => Promise<string> {
  let asked: { at: number; since: Promise<string> } | undefined;
  let last: string | undefined;
  const ask = async (): Promise<string> => {
    try {
      last = await findOldestDue(db);
    } catch (error) {
      // an earlier time leaves out no run; without any, sweeps have to wait until the question is answered
      if (last === undefined) {
        asked = undefined;
        throw error;
      }
    }
    return last;
  };
  return () => {
    if (!asked || performance.now() - asked.at >= validMs) asked = { at: performance.now(), since: ask() };
    return asked.since;
  };
}
