import type pg from 'pg';
import { PreparingClient } from './preparing-client.ts';

/** How long a connection of the queue, or one that listens, may be silent before it counts as lost. */
export const silenceMs = 15_000;

/**
 * A client that notices a silent server. After a failover or in a firewall that forgot it, a connection looks alive for
 * many minutes; one that only listens never finds out. This one asks for a sign of life while it is open, and breaks the
 * connection if there is none, so that its owner sees an error and connects again.
 */
export const watchedClient = (limitMs: number) =>
  class WatchedClient extends PreparingClient {
    constructor(config?: pg.ClientConfig) {
      super(config);
      let timer: NodeJS.Timeout | undefined;
      const ask = () => {
        const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
        const late = setTimeout(() => connection.stream.destroy(), limitMs / 3);
        // an error is an answer as well
        void this.query('select 1')
          .catch(() => {})
          .finally(() => clearTimeout(late));
      };
      this.once('connect', () => (timer = setInterval(ask, (limitMs * 2) / 3).unref()));
      this.once('end', () => clearInterval(timer));
    }
  };
