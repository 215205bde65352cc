import { createPostgresRelayBackend, createRedisRelayBackend, Relay } from 'bullmq';
import { pseudonym } from '../../base/checks/ids.ts';
import { openConnections } from './connection.ts';
import type { QueueOptions } from './queue.ts';
import { after, orLate } from '../../base/common/timer.ts';

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
