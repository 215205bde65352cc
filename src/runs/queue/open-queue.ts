import { silenceMs } from '../../database/postgres/watched-client.ts';
import { addJobs, answerTimeoutMs } from './jobs-in-queue.ts';
import { processClock, type Clock, within } from '../../base/common/timer.ts';
import { bullClasses, keepsEvents } from './bull-calls.ts';
import { allReady, closeWorker, createWorker } from './bull-workers.ts';
import { openConnections, databaseLost, outage, unreachable } from './connection.ts';
import {
  jobId,
  type RunJob,
  type RunJobResult,
  type Backend,
  type BullQueue,
  type BullWorker,
  type LastJob,
  type PlacedJob,
  type QueueOptions,
  type RunQueue,
  type WorkOptions,
} from './queue.ts';

/** Opens the queues. BullMQ connects in the background: call `ready` to see connection errors. */
export function openQueue(options: QueueOptions): RunQueue {
  const backend = options.redisUrl ? 'redis' : 'postgres';
  const { prefix = 'lf', shards = 1, limitMs = silenceMs, clock = processClock } = options;
  const classes = bullClasses(backend, clock);
  const connections = openConnections(options.redisUrl, options.databaseUrl, { limitMs, clock });
  const workers: BullWorker[] = [];
  let closing = false;
  let isReady = false;
  let lastError: Error | undefined;
  // A Redis Cluster keeps all keys with the same tag in braces in one slot, as BullMQ needs.
  const base = (name: string, listens: boolean) => ({ connection: connections.open(listens), prefix: `{${name}}` });
  const open = (name: string) => {
    const queue = new classes.Queue<RunJob, RunJobResult>(name, {
      ...base(name, false),
      ...keepsEvents(backend),
      ...(options.removing ? { skipMetasUpdate: true } : {}),
    });
    queue.on('error', (error) => {
      lastError = error;
      if (backend === 'redis' && isReady && workers.length === 0 && !closing) options.onError?.(outage(backend, error));
    });
    return queue;
  };
  const fleet = queuesOf(prefix, shards, open);
  const { queues, queueOf } = fleet;
  const lost = (error: Error) => Promise.reject(outage(backend, error));

  return {
    backend,
    prefix,
    queues,
    queueOf,
    add: (job, shard) => addJobs(queues[shard % shards]!, [job], 'back', clock),
    async addAll(jobs, end) {
      for (const queue of new Set(jobs.map(queueOf))) {
        const own = jobs.filter((job) => queueOf(job) === queue);
        await addJobs(queue, own, end, clock).catch(lost);
      }
    },
    reaches: fleet.reaches,
    async wake({ queue: name, ...job }) {
      const queue = fleet.find(name);
      if (queue) await wakeJob(queue, job, clock).catch(lost);
    },
    async work(processor, workOptions, agentQueue) {
      const names = agentQueue === undefined ? fleet.shardNames : [fleet.agentQueueName(agentQueue)];
      const own = names.map((name) => {
        const connection = { backend, classes, base: base(name, true), limitMs, isClosing: () => closing } as const;
        return createWorker(connection, name, processor, workOptions, agentQueue !== undefined);
      });
      workers.push(...own);
      // agent queues are opened later, by a worker that keeps running
      const fault = agentQueue === undefined ? (error: unknown) => unreachable(backend, error) : databaseLost;
      await runWorkers(own, backend, workOptions, fault);
      return own;
    },
    async ready() {
      await allReady(queues).catch((error: unknown) => {
        // prefer the error that explains the missing answer
        throw unreachable(backend, lastError ?? error);
      });
      isReady = true;
    },
    async clean(kept) {
      for (const queue of fleet.all()) await cleanQueue(queue, backend, clock, kept);
    },
    remove: (jobs) => removeAll(jobs, fleet.holding),
    async obliterate() {
      for (const queue of fleet.all()) await queue.obliterate({ force: true });
    },
    async close() {
      closing = true;
      await Promise.allSettled([...workers.map(closeWorker), ...fleet.all().map((queue) => queue.close())]);
      await connections.close();
    },
  };
}

/**
 * The queues of a fleet: one for each shard, and one for each agent, or agent with a strategy, that some workers do not
 * know. Its jobs wait there for workers that do.
 */
function queuesOf(prefix: string, shards: number, open: (name: string) => BullQueue) {
  const shardNames = Array.from({ length: shards }, (_, shard) => `${prefix}-${shard}`);
  const agentQueueName = (name: string) => `${prefix}-agent-${name}`;
  const queues = shardNames.map(open);
  const agentQueues = new Map<string, BullQueue>();
  const openAgentQueue = (name: string): BullQueue => {
    const queue = agentQueues.get(name) ?? open(agentQueueName(name));
    agentQueues.set(name, queue);
    return queue;
  };
  const isOfAgent = (name: string) => name.startsWith(agentQueueName(''));
  return {
    shardNames,
    agentQueueName,
    queues,
    all: () => [...queues, ...agentQueues.values()],
    queueOf: ({ queue_shard, agent_queue }: PlacedJob) =>
      agent_queue ? openAgentQueue(agent_queue) : queues[queue_shard % shards]!,
    reaches: (name: string) => shardNames.includes(name) || isOfAgent(name),
    find: (name: string) =>
      isOfAgent(name)
        ? openAgentQueue(name.slice(agentQueueName('').length))
        : queues.find((queue) => queue.name === name),
    /** Those that may hold jobs of a run. */
    holding({ agent, queue_shard: shard }: PlacedJob): BullQueue[] {
      const own = [...agentQueues].filter(([name]) => name === agent || name.startsWith(`${agent}+`));
      return [queues[shard % shards]!, ...own.map(([, queue]) => queue)];
    },
  };
}

/** Starts workers that were just created. @param fault what is thrown if they cannot connect */
async function runWorkers(
  workers: readonly BullWorker[],
  backend: Backend,
  { onError }: WorkOptions,
  fault: (error: unknown) => Error,
): Promise<void> {
  // BullMQ on PostgreSQL caches a failed first connection forever: its loop would spin and block the event loop.
  if (backend === 'postgres') {
    await allReady([...workers]).catch((error: unknown) => {
      // not awaited: they close only once their connections do
      for (const worker of workers) void closeWorker(worker).catch(() => {});
      throw fault(error);
    });
  }
  for (const worker of workers) void worker.run().catch(onError);
}

/** Ends the delay of a job, or adds the job if the queue does not have it. A job that waits or is at work stays so. */
async function wakeJob(queue: BullQueue, job: RunJob, clock: Clock): Promise<void> {
  let found = await within(answerTimeoutMs, queue.getJob(jobId(job)));
  if (!found) {
    await addJobs(queue, [job], 'back', clock);
    // the process that accepted the run may have added it in between, with its delay
    found = await within(answerTimeoutMs, queue.getJob(jobId(job)));
    if (!found || !(await within(answerTimeoutMs, found.isDelayed()))) return;
  }
  try {
    await within(answerTimeoutMs, found.promote());
  } catch (error) {
    if (await within(answerTimeoutMs, found.isDelayed())) throw error;
  }
}

/** Jobs per batch. Redis does nothing else during a batch; PostgreSQL sorts all removable jobs for each batch. */
const batchSize = { redis: 1_000, postgres: 10_000 };

/** Removes jobs that ended more than `keepMs` ago; of the rest, keeps only the last `keep` per state. */
async function cleanQueue(
  queue: BullQueue,
  backend: Backend,
  clock: Clock,
  { keepMs, keep }: { keepMs: number; keep: number },
): Promise<void> {
  for (const state of ['completed', 'failed'] as const) {
    // BullMQ's own limit on ended jobs deadlocks on PostgreSQL, which fails jobs that have succeeded
    const [first] = await queue.getJobs([state], keep, keep);
    // a moment, because BullMQ subtracts the age from the time of each batch
    const cutoff = Math.max(clock.now() - keepMs, first?.finishedOn ?? 0);
    const clean = () => queue.clean(Math.max(clock.now() - cutoff, 0), batchSize[backend], state);
    while ((await clean()).length === batchSize[backend]);
  }
}

async function removeAll(jobs: readonly LastJob[], holding: (job: PlacedJob) => BullQueue[]): Promise<number> {
  let removed = 0;
  for (const job of jobs) for (const queue of holding(job)) removed += await removeJobs(queue, job);
  return removed;
}

/**
 * Removes the jobs of a run and their logs, and returns how many there were. In Redis, BullMQ reports missing jobs as
 * removed.
 */
async function removeJobs(queue: BullQueue, { run_id, enqueue_no: last }: LastJob): Promise<number> {
  let count = 0;
  for (let no = 1; no <= last; no++) {
    const id = jobId({ run_id, enqueue_no: no });
    const state = await within(answerTimeoutMs, queue.getJobState(id));
    const removed = await within(answerTimeoutMs, queue.remove(id));
    if (state !== 'unknown') count += removed;
  }
  return count;
}
