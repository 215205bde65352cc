import { silenceMs } from '../postgres/watched-client.ts';
import { addJobs } from './add-jobs.ts';
import { processClock } from '../common/clock.ts';
import { bullClasses, keepsEvents } from './bull-classes.ts';
import { allReady, closeWorker, createWorker } from './bull-workers.ts';
import { cleanQueue, removeJob } from './clean.ts';
import { openConnections } from './connection.ts';
import { jobId, type RunJob, type RunJobResult } from './job.ts';
import { wakeJob } from './wake-job.ts';
import { databaseLost, outage, unreachable } from './outage.ts';
import type { BullQueue, BullWorker, PlacedJob, QueueOptions, RunQueue } from './queue.ts';

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
  const shardNames = Array.from({ length: shards }, (_, shard) => `${prefix}-${shard}`);
  const agentQueueName = (name: string) => `${prefix}-agent-${name}`;
  const queues = shardNames.map(open);
  /**
   * Queues for agents, or agents with a strategy, that some workers do not know: their jobs wait here for workers that
   * do.
   */
  const agentQueues = new Map<string, BullQueue>();
  const openAgentQueue = (name: string): BullQueue => {
    const queue = agentQueues.get(name) ?? open(agentQueueName(name));
    agentQueues.set(name, queue);
    return queue;
  };
  const all = () => [...queues, ...agentQueues.values()];
  const queueOf = ({ queue_shard, agent_queue }: PlacedJob) =>
    agent_queue ? openAgentQueue(agent_queue) : queues[queue_shard % shards]!;

  return {
    backend,
    prefix,
    queues,
    queueOf,
    add: (job, shard) => addJobs(queues[shard % shards]!, [job], 'back', clock),
    async addAll(jobs, end) {
      for (const queue of new Set(jobs.map(queueOf))) {
        const own = jobs.filter((job) => queueOf(job) === queue);
        await addJobs(queue, own, end, clock).catch((error: Error) => {
          throw outage(backend, error);
        });
      }
    },
    reaches: (name) => shardNames.includes(name) || name.startsWith(agentQueueName('')),
    async wake({ queue: name, ...job }) {
      const agentQueue = name.startsWith(agentQueueName('')) ? name.slice(agentQueueName('').length) : undefined;
      const queue = agentQueue === undefined ? queues.find((one) => one.name === name) : openAgentQueue(agentQueue);
      if (queue) await wakeJob(queue, job, clock).catch((error: Error) => Promise.reject(outage(backend, error)));
    },
    async work(processor, workOptions, agentQueue) {
      const names = agentQueue === undefined ? shardNames : [agentQueueName(agentQueue)];
      const own = names.map((name) => {
        const connection = { backend, classes, base: base(name, true), limitMs, isClosing: () => closing } as const;
        const worker = createWorker(connection, name, processor, workOptions, agentQueue !== undefined);
        workers.push(worker);
        return worker;
      });
      // BullMQ on PostgreSQL caches a failed first connection forever: its loop would spin and block the event loop.
      if (backend === 'postgres') {
        await allReady(own).catch((error: unknown) => {
          // not awaited: they close only once their connections do
          for (const worker of own) void closeWorker(worker).catch(() => {});
          // agent queues are opened later, by a worker that keeps running
          throw agentQueue === undefined ? unreachable(backend, error) : databaseLost(error);
        });
      }
      for (const worker of own) void worker.run().catch(workOptions.onError);
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
      for (const queue of all()) await cleanQueue(queue, backend, clock, kept);
    },
    async remove(jobs) {
      let removed = 0;
      for (const { run_id, enqueue_no: last, agent, queue_shard: shard } of jobs) {
        const own = [...agentQueues].filter(([name]) => name === agent || name.startsWith(`${agent}+`));
        for (const queue of [queues[shard % shards]!, ...own.map(([, queue]) => queue)]) {
          for (let no = 1; no <= last; no++) removed += await removeJob(queue, jobId({ run_id, enqueue_no: no }));
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
