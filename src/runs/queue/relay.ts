import { createPostgresRelayBackend, createRedisRelayBackend, Relay } from 'bullmq';
import { pseudonym } from '../../base/checks/ids.ts';
import { openConnections } from './connection.ts';
import type { QueueOptions, QueueEnd, RunQueue } from './queue.ts';
import { after, orLate, within, delay } from '../../base/common/timer.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { isQueued, type QueuedRun } from '../../database/store/run/queued-run.ts';
import { markJobMissing } from '../../database/store/run/find-jobs.ts';
import { createHash } from 'node:crypto';

/** Publishes messages between processes, by thread; a message without subscribers is dropped. */
export interface ThreadRelay {
  /** Rejects if the message could not be published. */
  publish(threadId: string, message: object): Promise<void>;
  /** Resolves to a function that unsubscribes. */
  subscribe<T>(threadId: string, onMessage: (message: T) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Pause before reconnecting after BullMQ gave up. */
const retryMs = 2_000;
/** Bytes per message: the longest delta of an answer, with every character escaped. */
const maxMessageSize = 4 * 1024 * 1024;
/** How long `close` waits for a backend that does not answer. */
const closePatienceMs = 2_000;

/**
 * BullMQ's Relay on the backend of the queue. It connects on first use, so a process without streams opens no
 * connection for it. `onRecovered` is called when messages may have been lost.
 */
export function openRelay(options: QueueOptions, onRecovered: () => void): ThreadRelay {
  let relay: Promise<Relay> | undefined;
  let closed = false;
  let release = async () => {};

  const connect = async (): Promise<Relay> => {
    const { open, close } = openConnections(options.redisUrl, options.databaseUrl);
    release = close;
    const own = new Relay({
      connection: open(true),
      // keeps all keys of the relay in one cluster slot, separate from the queues
      prefix: `{${options.prefix ?? 'lf'}-relay}`,
      namespace: options.prefix ?? 'lf',
      maxMessageSize,
      backend: (options.redisUrl ? createRedisRelayBackend : createPostgresRelayBackend) as never,
    });
    own.on('error', () => {});
    own.on('recovered', onRecovered);
    try {
      await own.waitUntilReady();
      return own;
    } catch (error) {
      // a later use tries again
      after(retryMs, () => (relay = undefined), { ref: false });
      void own
        .close()
        .catch(() => {})
        .finally(close);
      throw error;
    }
  };
  const ready = (): Promise<Relay> => {
    if (closed) return Promise.reject(new Error('The relay is closed.'));
    return (relay ??= connect());
  };

  return {
    async publish(threadId, message) {
      await (await ready()).publish(toTopic(threadId), message);
    },
    async subscribe<T>(threadId: string, onMessage: (message: T) => void) {
      const own = await ready();
      const subscription = await own.subscribe<T>(toTopic(threadId), ({ data }) => onMessage(data));
      return () => subscription.unsubscribe();
    },
    async close() {
      closed = true;
      if (!relay) return;
      const gone = relay.then((own) => own.close()).catch(() => {});
      await orLate(closePatienceMs, gone, () => undefined);
      await release();
    },
  };
}

export const toTopic = (threadId: string): string => `threads.${pseudonym(threadId)}`;

/** The queue of a thread. All runs of a thread share one, so a Redis Cluster spreads load by thread. */
export function shardOf(threadId: string, shards: number): number {
  if (shards <= 1) return 0;
  return createHash('md5').update(threadId).digest().readUInt32BE(0) % shards;
}

/**
 * Adds the job of a queued run behind the waiting ones. The run's row is the outbox: if the job cannot be added now,
 * the next sweep of any worker adds it, so an error is reported and never thrown. The queue of another fleet cannot be
 * reached from here: its run is marked as having no job, and that fleet's next sweep adds it.
 *
 * The job of a thread's next waiting run goes to the back too: ahead of the others, a thread that always has a waiting
 * run would occupy its worker forever.
 */
export const dispatch = (
  db: Database,
  queue: RunQueue,
  run: QueuedRun,
  onError?: (error: unknown) => void,
): Promise<void> => dispatchAll(db, queue, [run], 'back', onError);

/**
 * Adds the jobs of runs that have already begun ahead of the waiting ones, because their turn has come. See `dispatch`.
 */
export const dispatchFirst = (
  db: Database,
  queue: RunQueue,
  runs: readonly QueuedRun[],
  onError?: (error: unknown) => void,
): Promise<void> => dispatchAll(db, queue, runs, 'front', onError);

/** Adds the jobs of runs in their order. See `dispatch`. */
export async function dispatchAll(
  db: Database,
  queue: RunQueue,
  runs: readonly QueuedRun[],
  end: QueueEnd,
  onError: (error: unknown) => void = () => {},
): Promise<void> {
  const isOwn = (run: QueuedRun) => run.queue_prefix === undefined || run.queue_prefix === queue.prefix;
  try {
    await queue.addAll(runs.filter(isOwn), end);
    for (const run of runs) if (!isOwn(run)) await markJobMissing(db, run);
  } catch (error) {
    onError(error);
  }
}
/** How long a caller waits for a job to be added: longer than a healthy queue takes. */
const patienceMs = 100;

/**
 * Waits briefly until jobs are added, for a caller who has stored their runs; while the queue is down, they are added
 * in the background.
 */
export const briefly = (adding: Promise<void>, jobs = 1): Promise<void> =>
  within(patienceMs + jobs, adding).catch(() => {});

const firstPollMs = 10;
const lastPollMs = 5_000;

/**
 * Adds the job once the caller's transaction has committed. Nothing reports that commit, so this polls for the run at
 * growing intervals and finally leaves it to the sweep. A run that was rolled back is never found.
 */
export async function dispatchOnceCommitted(db: Database, queue: RunQueue, run: QueuedRun): Promise<void> {
  for (let pauseMs = firstPollMs; pauseMs < lastPollMs; pauseMs *= 2) {
    await delay(pauseMs, { ref: false });
    try {
      if (await isQueued(db, run)) return await dispatch(db, queue, run);
    } catch {
      return;
    }
  }
}
