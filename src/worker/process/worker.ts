import type { RunQueue } from '../../runs/queue/queue.ts';
import { readersChannel } from '../../runs/streams/deltas.ts';
import { Released } from '../run/held-run.ts';
import { joined, type WorkerPart, type WorkerSite } from '../part.ts';
import { WaitKeeper } from '../waits/wait-keeper.ts';
import { cleanup, Background } from './background.ts';
import { workerHealth, takeJobs, type JobTaking } from './take-jobs.ts';
import { unknownAgents } from './agent-queues.ts';
import { adoptMs, recovery } from './sweep.ts';
import { findTools } from '../../database/store/worker/find-lacking.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { type RunningWorker, type WorkerOptions, readOptions } from './options.ts';
import { after } from '../../base/common/timer.ts';
import { untilIdle } from './idle.ts';
import { activityCounts } from './count-activity.ts';
import { limits } from './limits.ts';
import { announce, openWorker, type OpenWorker, type WorkerDependencies } from './open-worker.ts';

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
  const open = await openWorker(deps, queue, readOptions(options, deps.log));
  const waits = keepWaits(open);
  const features = deps.parts.map((start) => start(siteOf(open)));
  await announce(open);
  const jobs = await takeJobs(open, runDependencies(open, waits, features)).catch((error: unknown) => {
    void Promise.allSettled([open.worker.keeper.stop(), ...features.map((part) => part.close?.())]);
    throw error;
  });
  const parts: WorkerPart[] = [
    open.worker.keeper,
    { channels: { [readersChannel]: (payload) => deps.live?.announced(payload) } },
    jobs.agentQueues,
    recovery(open, jobs.agentQueues),
    limits(open),
    waits,
    ...features,
    unknownAgents(open),
    activityCounts(open),
    cleanup(open),
  ];
  return runningWorker(open, jobs, parts);
}

const keepWaits = ({ deps, queue, options: { onError }, known: { agents } }: OpenWorker): WaitKeeper => {
  const { db, counting, children } = deps;
  const fleet = { queuePrefix: queue.prefix, adoptMs: deps.privateQueue ? null : adoptMs };
  return new WaitKeeper({ db, queue, counting, children, agents, fleet, onError });
};

/** The worker as features see it. */
const siteOf = ({ deps, queue, options, known, worker }: OpenWorker): WorkerSite => ({
  db: deps.db,
  agents: known.agents,
  versions: known.versions,
  privatePrefix: deps.privateQueue ? queue.prefix : null,
  queue,
  sweepMs: options.sweepMs,
  retentionDays: options.retentionDays,
  telemetry: worker.telemetry,
  onError: options.onError,
});

const runDependencies = (
  { deps, queue, options: { maxTraceEvents } }: OpenWorker,
  waits: WaitKeeper,
  features: readonly WorkerPart[],
): RunDependencies => ({
  ...deps,
  waits,
  features: joined(features),
  findTools: (needs, earlier) => findTools(deps.db, { ...needs, queue: queue.prefix }, earlier),
  maxTraceEvents,
});

function runningWorker(open: OpenWorker, jobs: JobTaking, parts: readonly WorkerPart[]): RunningWorker {
  const { deps, queue, options, worker, metrics } = open;
  const { concurrency, sweepMs, onError } = options;
  const { keeper } = worker;
  const facts = { component: 'worker', worker_id: worker.id };
  const background = new Background(parts, { sweepMs, onError, directUrl: deps.directUrl });
  const stopped = new AbortController();
  deps.log.info({ ...facts, agents: deps.agents.names, concurrency }, 'worker started');
  return {
    id: worker.id,
    get active() {
      return keeper.size;
    },
    health: () => workerHealth(deps.db, queue, worker),
    metrics: async () => (await metrics?.text()) ?? '',
    idle: ({ signal } = {}) =>
      untilIdle(open, background, parts, AbortSignal.any([stopped.signal, ...(signal ? [signal] : [])])),
    async stop({ graceMs = options.stopGraceMs } = {}) {
      if (worker.phase === 'working') {
        worker.phase = 'stopping';
        deps.log.info({ ...facts, active_runs: keeper.size }, 'worker stopping');
      }
      background.stop();
      stopped.abort(new DOMException('The worker has stopped.', 'AbortError'));
      const closed = Promise.allSettled(parts.map((part) => part.close?.()));
      const drained = jobs.stop();
      void keeper.heartbeat.send(keeper.own).catch(() => {});
      const patience = after(graceMs, () => {
        worker.phase = 'leaving';
        keeper.loseAll(() => new Released());
      });
      await Promise.all([drained, closed]);
      patience.cancel();
      await background.close();
      await keeper.stop();
      metrics?.close();
      deps.log.info({ ...facts, released: worker.released }, 'worker stopped');
      return { released: worker.released };
    },
  };
}
