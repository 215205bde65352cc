import { newId } from '../../base/checks/ids.ts';
import { closeWorker } from '../../runs/queue/bull-workers.ts';
import type { DirectWorker } from '../../runs/operations/runs/direct-start.ts';
import { DirectQueue } from '../../runs/queue/direct-queue.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import { listen } from '../../database/postgres/listen.ts';
import type { Logger } from '../../base/log/logger.ts';
import { reportErrors } from '../../base/log/report-errors.ts';
import type { Database, DatabaseOptions } from '../../database/postgres/pool.ts';
import { callsAtOnce } from '../../database/store/each-thread.ts';
import type { ExpiredRun } from '../../database/store/run/find-expired-runs.ts';
import { readersChannel } from '../../runs/streams/delta.ts';
import type { Telemetry } from '../../runs/telemetry/telemetry.ts';
import { Released } from '../run/held-run.ts';
import { joined, type StartPart } from '../part.ts';
import type { ChildRequests } from '../waits/dependencies.ts';
import { WaitKeeper } from '../waits/wait-keeper.ts';
import { settleRun } from '../../runs/limiter/settle-run.ts';
import { sweepLimits } from './sweep-limits.ts';
import { repeatCleanup } from './cleanup.ts';
import { once } from '../../base/common/once.ts';
import { Company } from './company.ts';
import { DirectStarts } from './direct-starts.ts';
import { dueSince } from './due-since.ts';
import { workerHealth } from './health.ts';
import { Intake } from './intake.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { AgentQueues } from './agent-queues.ts';
import { allVersions, capabilitiesOf } from './capabilities.ts';
import { recordVersions } from '../../database/store/agent/versions.ts';
import { Heartbeat } from './heartbeat.ts';
import { LeaseKeeper, renewalTimeoutMs } from './leases.ts';
import { processJob } from './process-job.ts';
import type { JobWorker } from './job-worker.ts';
import { Repeater } from './repeat.ts';
import { observe } from './observe.ts';
import { findTools } from '../../database/store/worker/find-lacking.ts';
import { reportUnknownAgents, describeUnknownAgent } from './report-unknown-agents.ts';
import { adoptMs, sweep } from './sweep.ts';
import { eventTrimmer } from './trim-events.ts';
import { checkTimes } from './check-times.ts';
import { checkTraceOptions } from './trace-options.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import type { RunningWorker, WorkerOptions } from './options.ts';
import { after } from '../../base/common/timer.ts';

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

const optionKeys: KeysOf<WorkerOptions> = {
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

/**
 * Starts a worker that processes runs. With the defaults another worker resumes a killed worker's run within
 * lease + sweep: under 9 s.
 *
 * @throws LanefoldError `queue_unreachable`
 */
export async function startWorker(
  deps: WorkerDependencies,
  queue: RunQueue,
  options: WorkerOptions = {},
): Promise<RunningWorker> {
  refuseUnknownKeys('startWorker', options, optionKeys);
  const {
    concurrency = 20,
    leaseMs = 6_000,
    sweepMs = 2_000,
    keepJobsMs = 86_400_000,
    keepJobs = 10_000,
    maxClaimsWithoutProgress = 5,
    cancelGraceMs = 5_000,
    stopGraceMs = 25_000,
    unknownAgentMs,
    onUnknownAgent = (unknown) =>
      deps.log.error({ component: 'worker', agent: unknown.agent }, describeUnknownAgent(unknown)),
  } = options;
  const { retentionDays } = checkTraceOptions(options);
  checkTimes(options);
  const onError = options.onError ?? reportErrors(deps.log, 'worker');
  const id = newId('worker');
  const { telemetry, metrics } = await observe(deps, options.metrics ?? false, () => keeper.size);
  const { settings } = deps.db;
  const own = deps.connect({
    ...{ max: settings.distributed ? callsAtOnce : 1, timeoutMs: renewalTimeoutMs(leaseMs), settings },
    applicationName: 'lanefold leases',
  });
  const known = capabilitiesOf(deps.agents);
  const heartbeat: Heartbeat = new Heartbeat({ id, queue: queue.prefix, concurrency, ...known }, leaseMs, () => ({
    runsHeld: keeper.size,
    draining: self.phase !== 'working',
  }));
  const keeper = new LeaseKeeper(own, deps.db, leaseMs, heartbeat);
  const intake = new Intake(() => keeper.renew());
  const self: JobWorker = {
    ...{ id, leaseMs, maxClaimsWithoutProgress, keeper, intake, company: new Company(intake, stopGraceMs) },
    ...{ onError, telemetry },
    ...{ onRunEnd: options.onRunEnd, phase: 'working', released: 0, started: new Map() },
  };

  const onQueueError = (error: unknown) => {
    onError(error);
    // BullMQ on PostgreSQL fetches again at once after most errors, such as those of a starting server, so pause here
    if (queue.backend === 'postgres') void intake.interrupt();
  };
  const { gate } = deps;
  await gate.refresh().catch(onError);
  const { db, children, counting } = deps;
  const fleet = { queuePrefix: queue.prefix, adoptMs: deps.privateQueue ? null : adoptMs };
  const waits = new WaitKeeper({ db, queue, counting, children, agents: known.agents, fleet, onError });
  const site = {
    ...{ db, agents: known.agents, versions: known.versions, sweepMs, retentionDays, telemetry, onError },
    privatePrefix: deps.privateQueue ? queue.prefix : null,
  };
  const parts = deps.parts.map((start) => start(site));
  const findToolsOf: RunDependencies['findTools'] = (needs, earlier) =>
    findTools(db, { ...needs, queue: queue.prefix }, earlier);
  const { maxTraceEvents } = options;
  const running = { ...deps, waits, features: joined(parts), findTools: findToolsOf, maxTraceEvents };
  const work = processJob(running, queue, self);
  // A worker may die between taking a job and claiming its run. There is no lease yet, so the job's lock must expire as
  // fast: BullMQ's check finds it on Redis, the sweep on PostgreSQL.
  const jobs = {
    ...{ concurrency, name: id, lockMs: leaseMs, stalledMs: sweepMs, onError: onQueueError },
    claimOf: (id: string) => keeper.claimOf(id),
  };
  // announce the worker before it takes a job; later heartbeats ride on the renewals
  await heartbeat.send(own).catch(onError);
  // runs may have waited for this worker
  void gate.check().catch(onError);
  const versions = once(() => recordVersions(deps.db, allVersions(deps.agents)));
  // a sweep tries again
  await versions().catch(() => {});
  const workers = await queue.work(work, jobs).catch((error: unknown) => {
    void Promise.allSettled([keeper.stop(), ...parts.map((part) => part.close?.())]);
    throw error;
  });
  intake.open(workers, concurrency * workers.length);
  const shards = workers.map((one, shard) => new DirectQueue(queue.backend, queue.queues[shard]!, one));
  const direct = new DirectStarts(running, queue, self, shards);
  deps.directWorkers?.add(direct);
  const openQueue = async (agentQueue: string) => intake.open(await queue.work(work, jobs, agentQueue), 0);
  const agentQueues = new AgentQueues(deps.db, queue.prefix, known, openQueue, onError);
  const adoptable = deps.privateQueue ? [] : known.agents;
  const notices = deps.directUrl
    ? listen(deps.directUrl, {
        lanefold_cancel: (payload) => void keeper.cancelNotified(payload),
        [readersChannel]: (payload) => deps.live?.announced(payload),
        lanefold_agent: (payload) => void agentQueues.notified(payload),
        lanefold_waits: () => void waits.look().catch(onError),
        lanefold_limits: () => void gate.refresh().catch(onError),
        ...Object.assign({}, ...parts.map(({ channels }) => channels)),
      })
    : undefined;

  const repeater = new Repeater(onError);
  const oldest = dueSince(deps.db);
  const graceMs = Math.min(5_000, leaseMs);
  const onExpired = ({ thread_id: threadId, run_id: runId, agent }: ExpiredRun) => {
    const run = { threadId, runId, agent };
    void settleRun(deps, run).catch(onError);
    telemetry.runRefused(run, 'expired');
    options.onRunEnd?.({ ...run, status: 'failed', durationMs: 0 });
  };
  repeater.repeat(sweepMs, async () => {
    const since = await oldest();
    await versions();
    await agentQueues.openAll(since).catch(onError);
    await sweep(deps.db, queue, {
      since,
      graceMs,
      cancelGraceMs,
      adoptable,
      known,
      unknownAgentMs,
      onError,
      onExpired,
    });
  });
  repeater.repeat(sweepMs, () => sweepLimits(deps.db, queue, gate, deps.counting, onError));
  repeater.repeat(sweepMs, () => waits.look());
  for (const { everyMs = 0, work } of parts.flatMap(({ sweeps = [] }) => sweeps))
    repeater.repeat(Math.max(everyMs, sweepMs), work);
  repeater.repeat(sweepMs, reportUnknownAgents(deps.db, queue.prefix, onUnknownAgent, oldest));
  repeater.repeat(Math.max(60_000, sweepMs), () => queue.clean({ keepMs: keepJobsMs, keep: keepJobs }));
  if (queue.backend === 'postgres') repeater.repeat(sweepMs, eventTrimmer(deps.db, queue.prefix));
  repeatCleanup(repeater, { db: deps.db, sweepMs, retentionDays });
  const facts = { component: 'worker', worker_id: id };
  deps.log.info({ ...facts, agents: deps.agents.names, concurrency }, 'worker started');

  return {
    id,
    get active() {
      return keeper.size;
    },
    health: () => workerHealth(deps.db, queue, intake.workers, self),
    metrics: async () => (await metrics?.text()) ?? '',
    async stop({ graceMs: patienceMs = stopGraceMs } = {}) {
      if (self.phase === 'working') {
        self.phase = 'stopping';
        deps.log.info({ ...facts, active_runs: keeper.size }, 'worker stopping');
      }
      repeater.stop();
      const partsClosed = Promise.allSettled(parts.map((part) => part.close?.()));
      intake.close();
      deps.directWorkers?.delete(direct);
      void heartbeat.send(own).catch(() => {});
      await agentQueues.close();
      const drained = Promise.allSettled([direct.settled(), ...intake.workers.map(closeWorker)]);
      const patience = after(patienceMs, () => {
        self.phase = 'leaving';
        keeper.loseAll(() => new Released());
      });
      await Promise.all([drained, partsClosed]);
      patience.cancel();
      await notices?.close();
      await keeper.stop();
      metrics?.close();
      deps.log.info({ ...facts, released: self.released }, 'worker stopped');
      return { released: self.released };
    },
  };
}
