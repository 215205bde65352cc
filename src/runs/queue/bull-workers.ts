import type { WorkerOptions, Worker } from 'bullmq';
import { within } from '../../base/common/timer.ts';
import { answerTimeoutMs } from './jobs-in-queue.ts';
import type { bullClasses } from './bull-calls.ts';
import type { RunJob, RunJobResult, Backend, BullWorker, Processor, WorkOptions } from './queue.ts';
import { outage } from './connection.ts';

const maxRetryMs = 2_000;

/** BullMQ's own default. */
const defaultStalledMs = 30_000;

interface WorkerConnection {
  backend: Backend;
  classes: ReturnType<typeof bullClasses>;
  /** Connection and key prefix. */
  base: Pick<WorkerOptions, 'connection' | 'prefix'>;
  /** How long a connection may be silent. */
  limitMs: number;
  /** During closing, the server may end connections before the worker does. */
  isClosing: () => boolean;
}

/** Creates BullMQ's worker for one queue; it takes no job before `run` is called. */
export function createWorker(
  { backend, classes, base, limitMs, isClosing }: WorkerConnection,
  queueName: string,
  processor: Processor,
  { concurrency, name, lockMs, stalledMs, claimOf = () => undefined, onError }: WorkOptions,
  ofAgent: boolean,
): BullWorker {
  const worker = new classes.Worker<RunJob, RunJobResult>(queueName, processor as never, {
    ...base,
    concurrency,
    name,
    lockDuration: lockMs,
    // On PostgreSQL the check rewrites every active job and reads all kept jobs, so it keeps BullMQ's default interval:
    // the sweep finds lost jobs.
    stalledInterval: backend === 'redis' ? stalledMs : defaultStalledMs,
    // the workers of agent queues are paused and resumed more often, and would check each time
    skipStalledCheck: backend === 'postgres' && ofAgent,
    maxStalledCount: 10,
    autorun: false,
    // Seconds that an idle worker blocks; with delayed jobs it is up to twice as long.
    drainDelay: limitMs / 3_000,
    // BullMQ's default of 15 s would prolong every outage, and a stop during one
    runRetryDelay: Math.min(stalledMs, maxRetryMs),
  }) as unknown as BullWorker;
  if (backend === 'postgres') makeLocksLast(worker, claimOf);
  ignoreEnded(worker, claimOf);
  worker.on('error', (error) => isClosing() || onError(outage(backend, error)));
  return worker;
}

/** Settles when the queue has answered over the connections through which this worker takes jobs. */
export const askWorker = (worker: BullWorker): Promise<unknown> => worker.extendJobLocks([], [], 1);

/** Resolves once all are connected. */
export const allReady = (of: { waitUntilReady(): Promise<unknown> }[]): Promise<unknown> =>
  within(answerTimeoutMs, Promise.all(of.map((one) => one.waitUntilReady())));

/**
 * Lets a worker's jobs finish, then closes it. If BullMQ on PostgreSQL closes while a connection is still being opened,
 * it leaks the connection and the process never exits: hence the wait, which is immediate for a worker that was ready.
 */
export async function closeWorker(worker: BullWorker): Promise<void> {
  await within(answerTimeoutMs, worker.waitUntilReady()).catch(() => {});
  await worker.close();
}

type Locks = Pick<Worker, 'extendJobLocks'>;

/**
 * Reports the lock of a job as lost only if the job's run is held all the same. A job that ends while its lock is renewed has no lock
 * either, which is no error.
 */
export function ignoreEnded(worker: Locks, claimOf: (jobId: string) => object | undefined): void {
  const extend = worker.extendJobLocks.bind(worker);
  worker.extendJobLocks = async (ids, tokens, durationMs) => {
    const claims = new Map(ids.map((id) => [id, claimOf(id)]));
    const lost = await extend(ids, tokens, durationMs);
    return lost.filter((id) => claims.get(id) !== undefined && claimOf(id) === claims.get(id));
  };
}

/** How much longer the lock of a job lasts once its run is claimed. */
const lasting = 5;

/**
 * Renews the locks of claimed jobs less often: on PostgreSQL every renewal rewrites the job's row and its index
 * entries, and thousands of jobs may be waiting for their models. A claimed run has a lease, which shows whether its
 * worker is alive. Before the claim only the lock shows that, so it stays short.
 *
 * @param claimOf returns an object that identifies the claim of a job's run, a new one for each claim
 */
function makeLocksLast(worker: Locks, claimOf: (jobId: string) => object | undefined): void {
  const extend = worker.extendJobLocks.bind(worker);
  const lastingUntil = new WeakMap<object, number>();
  worker.extendJobLocks = async (ids, tokens, durationMs) => {
    // a call without ids only checks that the queue answers
    if (ids.length === 0) return extend(ids, tokens, durationMs);
    const now = performance.now();
    const jobs = ids.map((id, i) => ({ id, token: tokens[i]!, claim: claimOf(id) }));
    const claimed = jobs.filter(({ claim }) => claim && now >= (lastingUntil.get(claim) ?? 0));
    const lostOf = async (some: typeof jobs, ms: number) =>
      some.length === 0
        ? []
        : extend(
            some.map(({ id }) => id),
            some.map(({ token }) => token),
            ms,
          );
    const lost = [
      ...(await lostOf(
        jobs.filter(({ claim }) => !claim),
        durationMs,
      )),
      ...(await lostOf(claimed, durationMs * lasting)),
    ];
    // BullMQ asks again within half of the original duration
    for (const { id, claim } of claimed)
      if (!lost.includes(id)) lastingUntil.set(claim!, now + durationMs * (lasting - 2));
    return lost;
  };
}
