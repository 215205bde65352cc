import pg from 'pg';
import type { Socket } from 'node:net';
import { after, every } from '../../base/common/timer.ts';

type Callback = (error: Error, result: pg.QueryResult) => void;

/** SQLSTATE of a prepared statement whose result columns have changed, as after an upgrade of the schema. */
const planOutdated = '0A000';

const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `prepared_${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * A client whose connection may break without ending the process. `pg` reports a broken connection twice: to the
 * running statement, and as an `error` event, which is fatal without a listener. A pool does not listen while a client
 * is checked out.
 */
export class QuietClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** A client that prepares every statement with parameters, for a library that sends the same few texts unprepared. */
class PreparingClient extends QuietClient {
  #prepares = true;

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
  override query(...args: any[]): any {
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const [text, values, callback] = args as [string, unknown[], Callback];
    if (!this.#prepares || typeof text !== 'string' || !Array.isArray(values) || typeof callback !== 'function') {
      return send(...args);
    }
    return send({ name: nameOf(text), text, values }, (error: Error & { code?: string }, result: pg.QueryResult) => {
      if (error?.code !== planOutdated) return callback(error, result);
      this.#prepares = false;
      send(text, values, callback);
    });
  }
}

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
