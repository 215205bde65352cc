import { createPostgresBackend, createRedisBackend, withBackend, type Job, type Worker } from 'bullmq';
import { silenceMs } from '../postgres/watched-client.ts';
import { within } from '../common/time-limit.ts';
import { openConnections } from './connection.ts';
import { jobId, toJob, type RunJob, type RunJobResult } from './job.ts';
import { makeLocksLast } from './lasting-locks.ts';
import { databaseLost, outage, unreachable } from './outage.ts';

export interface QueueOptions {
  /** Redis when given, else BullMQ's PostgreSQL backend at `databaseUrl`. */
  redisUrl?: string | undefined;
  databaseUrl: string;
  /** First part of the queue names, `<prefix>-<shard>`; default `lf`. */
  prefix?: string;
  shards?: number;
  /** Opened only to be removed: writes no metadata. */
  removing?: boolean;
  /** How long a connection may be silent before it is replaced; default 15 s. */
  limitMs?: number;
  /** Receives lost Redis connections while this process has no worker to report them; must not throw. */
  onError?: ((error: unknown) => void) | undefined;
}

export type Processor = (
  job: Job<RunJob, RunJobResult>,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<RunJobResult>;

export interface WorkOptions {
  concurrency: number;
  name: string;
  /**
   * How long a job's lock lasts without renewal. On PostgreSQL, the lock of a claimed run's job lasts longer: see
   * `makeLocksLast`.
   */
  lockMs: number;
  /**
   * Returns an object that identifies the claim of a job's run, a new one for each claim; without it, no run counts as
   * claimed.
   */
  claimOf?: (jobId: string) => object | undefined;
  /** Pause between BullMQ's checks for jobs whose worker died, on Redis. */
  stalledMs: number;
  /** Receives lost connections and the like, from the first one on; must not throw. */
  onError: (error: unknown) => void;
}

/** The facts that determine a job's queue. */
export interface PlacedJob {
  agent: string;
  queue_shard: number;
  agent_queue?: string | null;
}

/** A job to be added. Those with a priority wait behind those without, lower numbers first. */
export type NewJob = RunJob & PlacedJob & { priority?: number; delay_ms?: number };

/** Where a job is added: ahead of the waiting ones, or behind them. */
export type QueueEnd = 'front' | 'back';

/** The last job of a run. */
export interface LastJob extends PlacedJob {
  run_id: string;
  enqueue_no: number;
}

export interface RunQueue {
  readonly backend: 'redis' | 'postgres';
  readonly prefix: string;
  /** One per shard; for Bull Board and for inspection. */
  readonly queues: BullQueue[];
  /**
   * The queue that has the job of a run: the queue of its shard, or of its agent. A run may have been accepted while
   * there were more shards than now.
   */
  queueOf(run: PlacedJob): BullQueue;
  /** Adds a job behind the waiting ones. Adding the same job twice adds it once. */
  add(job: RunJob, shard: number): Promise<void>;
  /**
   * Adds jobs in their order, in few round trips. Adding the same job twice adds it once. At the front, priorities are
   * ignored.
   */
  addAll(jobs: readonly NewJob[], end: QueueEnd): Promise<void>;
  /**
   * Starts processing the jobs of every shard, or with `agentQueue`, those in that agent's queue instead.
   *
   * @throws LanefoldError `queue_unreachable`; `database_unreachable` for an agent's queue in PostgreSQL
   */
  work(processor: Processor, options: WorkOptions, agentQueue?: string): Promise<BullWorker[]>;
  /** @throws LanefoldError `queue_unreachable` */
  ready(): Promise<void>;
  /** Removes jobs that ended more than `keepMs` ago; of the rest, keeps only the last `keep` per shard and state. */
  clean(kept: { keepMs: number; keep: number }): Promise<void>;
  /** Removes jobs and their logs, including earlier jobs of the same run; returns how many there were. */
  remove(jobs: readonly LastJob[]): Promise<number>;
  /** Removes the queues with all their jobs. */
  obliterate(): Promise<void>;
  close(): Promise<void>;
}

type BullQueue = InstanceType<ReturnType<typeof classes>['Queue']>;
export type BullWorker = Worker<RunJob, RunJobResult>;

const classes = (backend: 'redis' | 'postgres') =>
  // both return the same classes except for the type of the connection
  withBackend((backend === 'redis' ? createRedisBackend : createPostgresBackend) as typeof createRedisBackend);

/** Jobs per batch. Redis does nothing else during a batch; PostgreSQL sorts all removable jobs for each batch. */
const cleanBatch = { redis: 1_000, postgres: 10_000 };

const addBatch = 500;

const longestRetryMs = 2_000;

/** BullMQ's own default. */
const defaultStalledMs = 30_000;

/** How long the queue may take to answer; a job not added by then is left to the sweep. */
export const answerTimeoutMs = 5_000;

/** Opens the queues. BullMQ connects in the background: call `ready` to see connection errors. */
export function openQueue(options: QueueOptions): RunQueue {
  const backend = options.redisUrl ? 'redis' : 'postgres';
  const { Queue, Worker } = classes(backend);
  const { prefix = 'lf', shards = 1, limitMs = silenceMs } = options;
  const connections = openConnections(options.redisUrl, options.databaseUrl, limitMs);
  const workers: BullWorker[] = [];
  let closing = false;
  let isReady = false;
  let lastError: Error | undefined;
  // A Redis Cluster keeps all keys with the same tag in braces in one slot, as BullMQ needs.
  const base = (name: string, listens: boolean) => ({ connection: connections.open(listens), prefix: `{${name}}` });
  const open = (name: string) => {
    const queue = new Queue<RunJob, RunJobResult>(name, {
      ...base(name, false),
      ...(options.removing ? { skipMetasUpdate: true } : {}),
    });
    queue.on('error', (error) => {
      lastError = error;
      if (backend === 'redis' && isReady && workers.length === 0 && !closing) options.onError?.(outage(backend, error));
    });
    return queue;
  };
  const shardNames = Array.from({ length: shards }, (_, shard) => `${prefix}-${shard}`);
  const agentQueueName = (name: string) => `${prefix}-agent-${name}`;
  const queues = shardNames.map(open);
  /**
   * Queues for agents, or agents with a strategy, that some workers do not know: their jobs wait here for workers that
   * do.
   */
  const agentQueues = new Map<string, BullQueue>();
  const agentQueue = (name: string): BullQueue => {
    const queue = agentQueues.get(name) ?? open(agentQueueName(name));
    agentQueues.set(name, queue);
    return queue;
  };
  const all = () => [...queues, ...agentQueues.values()];
  const queueOf = ({ queue_shard, agent_queue }: PlacedJob) =>
    agent_queue ? agentQueue(agent_queue) : queues[queue_shard % shards]!;

  return {
    backend,
    prefix,
    queues,
    queueOf,
    add: (job, shard) => addJobs(queues[shard % shards]!, [job], 'back'),
    async addAll(jobs, end) {
      for (const queue of new Set(jobs.map(queueOf))) {
        const own = jobs.filter((job) => queueOf(job) === queue);
        await addJobs(queue, own, end).catch((error: Error) => {
          throw outage(backend, error);
        });
      }
    },
    async work(
      processor,
      { concurrency, name: workerName, lockMs, stalledMs, claimOf = () => undefined, onError },
      passedOn,
    ) {
      const names = passedOn === undefined ? shardNames : [agentQueueName(passedOn)];
      const own = names.map((name) => {
        const worker = new Worker<RunJob, RunJobResult>(name, processor as never, {
          ...base(name, true),
          concurrency,
          name: workerName,
          lockDuration: lockMs,
          // On PostgreSQL the check rewrites every active job and reads all kept jobs, so it keeps BullMQ's default
          // interval: the sweep finds lost jobs.
          stalledInterval: backend === 'redis' ? stalledMs : defaultStalledMs,
          // these workers are paused and resumed more often, and would check each time
          skipStalledCheck: backend === 'postgres' && passedOn !== undefined,
          maxStalledCount: 10,
          autorun: false,
          // Seconds that an idle worker blocks; with delayed jobs it is up to twice as long.
          drainDelay: limitMs / 3_000,
          // BullMQ's default of 15 s would prolong every outage, and a stop during one
          runRetryDelay: Math.min(stalledMs, longestRetryMs),
        }) as unknown as BullWorker;
        if (backend === 'postgres') makeLocksLast(worker, claimOf);
        // during closing, the server may end connections before the worker does
        worker.on('error', (error) => closing || onError(outage(backend, error)));
        workers.push(worker);
        return worker;
      });
      // BullMQ on PostgreSQL caches a failed first connection forever: its loop would spin and block the event loop.
      if (backend === 'postgres') {
        await allReady(own).catch((error: unknown) => {
          // not awaited: they close only once their connections do
          for (const worker of own) void closeWorker(worker).catch(() => {});
          // agent queues are opened later, by a worker that keeps running
          throw passedOn === undefined ? unreachable(backend, error) : databaseLost(error);
        });
      }
      for (const worker of own) void worker.run().catch(onError);
      return own;
    },
    async ready() {
      await allReady(queues).catch((error: unknown) => {
        // prefer the error that explains the missing answer
        throw unreachable(backend, lastError ?? error);
      });
      isReady = true;
    },
    async clean({ keepMs, keep }) {
      for (const queue of all()) {
        for (const state of ['completed', 'failed'] as const) {
          // BullMQ's own limit on ended jobs deadlocks on PostgreSQL, which fails jobs that have succeeded
          const [first] = await queue.getJobs([state], keep, keep);
          // a moment, because BullMQ subtracts the age from the time of each batch
          const cutoff = Math.max(Date.now() - keepMs, first?.finishedOn ?? 0);
          const clean = () => queue.clean(Math.max(Date.now() - cutoff, 0), cleanBatch[backend], state);
          while ((await clean()).length === cleanBatch[backend]);
        }
      }
    },
    async remove(jobs) {
      let removed = 0;
      for (const { run_id, enqueue_no: last, agent, queue_shard: shard } of jobs) {
        const own = [...agentQueues].filter(([name]) => name === agent || name.startsWith(`${agent}+`));
        for (const queue of [queues[shard % shards]!, ...own.map(([, queue]) => queue)]) {
          for (let no = 1; no <= last; no++)
            removed += await within(answerTimeoutMs, queue.remove(jobId({ run_id, enqueue_no: no })));
        }
      }
      return removed;
    },
    async obliterate() {
      for (const queue of all()) await queue.obliterate({ force: true });
    },
    async close() {
      closing = true;
      await Promise.allSettled([...workers.map(closeWorker), ...all().map((queue) => queue.close())]);
      await connections.close();
    },
  };
}

/** Settles when the queue has answered over the connections through which this worker takes jobs. */
export const askWorker = (worker: BullWorker): Promise<unknown> => worker.extendJobLocks([], [], 1);

const allReady = (of: { waitUntilReady(): Promise<unknown> }[]): Promise<unknown> =>
  within(answerTimeoutMs, Promise.all(of.map((one) => one.waitUntilReady())));

async function addJobs(queue: BullQueue, jobs: readonly (RunJob & Partial<NewJob>)[], end: QueueEnd): Promise<void> {
  // each job added to the front goes ahead of the one added before it
  const inOrder = end === 'front' ? [...jobs].reverse() : jobs;
  for (let at = 0; at < inOrder.length; at += addBatch) {
    const batch = inOrder.slice(at, at + addBatch).map((job) => ({
      ...{ name: 'run', data: toJob(job) },
      opts: { jobId: jobId(job), attempts: 1, ...(end === 'front' ? { lifo: true } : turnOf(job)) },
    }));
    const [{ name, data, opts }] = batch as [(typeof batch)[0]];
    const added: Promise<unknown> = batch.length > 1 ? queue.addBulk(batch) : queue.add(name, data, opts);
    await within(answerTimeoutMs, added);
  }
}

const turnOf = ({ priority, delay_ms }: Partial<NewJob>): { priority?: number; delay?: number } => ({
  ...(priority ? { priority } : {}),
  ...(delay_ms ? { delay: delay_ms } : {}),
});

/**
 * Lets a worker's jobs finish, then closes it. If BullMQ on PostgreSQL closes while a connection is still being opened,
 * it leaks the connection and the process never exits: hence the wait, which is immediate for a worker that was ready.
 */
export async function closeWorker(worker: BullWorker): Promise<void> {
  await within(answerTimeoutMs, worker.waitUntilReady()).catch(() => {});
  await worker.close();
}
