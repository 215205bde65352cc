import type { Job } from 'bullmq';
import { within } from '../common/time-limit.ts';
import { silenceMs } from '../postgres/watched-client.ts';
import { answerTimeoutMs } from './add-jobs.ts';
import { bullClasses, keepsEvents } from './bull-classes.ts';
import { allReady } from './bull-workers.ts';
import { openConnections } from './connection.ts';
import { outage } from './outage.ts';
import type { QueueOptions } from './queue.ts';

/** The payload of a job: which attempt to make. */
export interface DeliveryJob {
  thread_id: string;
  id: string;
  attempt: number;
  /** Whether the last attempt of its endpoint had failed: it waits behind the others. */
  failing: boolean;
}

/** The queue of the attempts to deliver webhooks, `<prefix>-webhooks`. */
export interface DeliveryQueue {
  /** Adds jobs. Adding the same job twice adds it once. */
  add(jobs: readonly DeliveryJob[]): Promise<void>;
  /** Starts processing jobs. */
  work(deliver: (job: DeliveryJob) => Promise<void>): Promise<void>;
  /** Lets the jobs that have begun finish. */
  close(): Promise<void>;
}

/** Sockets rather than work: an attempt mostly waits for its receiver. */
const concurrency = 20;
/** BullMQ retries after an error this soon, in ms. */
const retryMs = 2_000;
/** How soon the job of a worker that died is given to another, in ms; no jobs are kept, so the check is cheap. */
const lockMs = 5_000;

export function openDeliveryQueue(options: QueueOptions): DeliveryQueue {
  const backend = options.redisUrl ? 'redis' : 'postgres';
  const { Queue, Worker } = bullClasses[backend];
  const { limitMs = silenceMs } = options;
  const name = `${options.prefix ?? 'lf'}-webhooks`;
  const connections = openConnections(options.redisUrl, options.databaseUrl, limitMs);
  const base = (listens: boolean) => ({ connection: connections.open(listens), prefix: `{${name}}` });
  const onError = (error: Error) => void (closing || options.onError?.(outage(backend, error)));
  let closing = false;
  const queue = new Queue<DeliveryJob, void>(name, { ...base(false), ...keepsEvents(backend) });
  queue.on('error', () => {});
  let worker: InstanceType<typeof Worker<DeliveryJob, void>> | undefined;

  return {
    async add(jobs) {
      // one by one: BullMQ's bulk on PostgreSQL creates a sequence, which the role of a worker may not
      const adding = jobs.map(({ thread_id, id, attempt, failing }) =>
        queue.add(
          'deliver',
          { thread_id, id, attempt, failing },
          {
            ...{ jobId: `${id}.${attempt}`, attempts: 1, removeOnComplete: true, removeOnFail: true },
            ...(failing ? { priority: 10 } : {}),
          },
        ),
      );
      await within(answerTimeoutMs, Promise.all(adding)).catch((error: Error) => {
        throw outage(backend, error);
      });
    },
    async work(deliver) {
      worker = new Worker<DeliveryJob, void>(name, (async ({ data }: Job<DeliveryJob>) => deliver(data)) as never, {
        ...base(true),
        ...{
          concurrency,
          autorun: false,
          drainDelay: limitMs / 3_000,
          runRetryDelay: retryMs,
          ...{ lockDuration: lockMs, stalledInterval: lockMs },
        },
      });
      worker.on('error', onError);
      await allReady([queue, worker]);
      void worker.run().catch(onError);
    },
    async close() {
      closing = true;
      if (worker) {
        await within(answerTimeoutMs, worker.waitUntilReady()).catch(() => {});
        await worker.close();
      }
      await queue.close();
      await connections.close();
    },
  };
}
