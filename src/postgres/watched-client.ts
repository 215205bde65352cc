import type { Socket } from 'node:net';
import type pg from 'pg';
import { PreparingClient } from './preparing-client.ts';
import { after, every } from '../common/timer.ts';

/** How long a connection of the queue, or a listening one, may be silent before it counts as lost. */
export const silenceMs = 15_000;

/**
 * A client that notices a silent server. After a failover, or behind a firewall that dropped it, a connection looks
 * alive for many minutes; one that only listens never finds out. This client keeps checking that the server answers,
 * and otherwise breaks the connection, so that its owner sees an error and reconnects.
 */
export const watchedClient = (limitMs: number): new (config?: pg.ClientConfig) => pg.Client =>
  class WatchedClient extends PreparingClient {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const ask = () => {
        const { connection, readyForQuery } = this as unknown as Connected;
        // a running statement has its own time limit
        if (!readyForQuery) return;
        let answered = false;
        // the answer may have come while this process was busy
        const late = after(limitMs / 3, () => setImmediate(() => answered || connection.stream.destroy()));
        // an error is an answer as well
        void this.query('select 1')
          .catch(() => {})
          .finally(() => {
            answered = true;
            late.cancel();
          });
      };
      this.once('connect', () => {
        const timer = every((limitMs * 2) / 3, ask, { ref: false });
        // BullMQ removes the listeners of its client before it ends it
        (this as unknown as Connected).connection.stream.once('close', () => timer.cancel());
      });
    }
  };

/** What pg keeps to itself. */
interface Connected {
  connection: { stream: Socket };
  readyForQuery: boolean;
}
