import pLimit from 'p-limit';
import type pg from 'pg';
import { isLanefoldError, LanefoldError } from '../errors.ts';
import { BoundedPool } from './bounded-pool.ts';
import { Gatherer } from './gather.ts';
import { queryLong, queryOnNodes } from './query-in-scope.ts';
import { readSnapshot, type ReadRaw } from './read-snapshot.ts';
import { runQuery } from './run-query.ts';
import type { Scope } from './scoped-query.ts';

export interface Database {
  readonly pool: pg.Pool;
  /** Runs a statement, prepared once per connection under its name. Rejects with a `LanefoldError`. */
  query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * The row that answers an item, given as JSON. `text` takes a JSON array of items as its only argument and returns a row
   * for each, in their order; items of the same name share a statement. See `Gatherer`.
   */
  gather<Row>(name: string, text: string, item: string): Promise<Row>;
  /** As `query`, for a statement that waits for a thread held by somebody else: such statements leave half of the pool free. */
  queryLocking<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** As `query`, for a statement that looks at many threads and may take two minutes. */
  queryLong<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** Yields what `read` yields, from one state of the database. `read` may query as long as it is iterated. See `readSnapshot`. */
  snapshot<T, R>(read: (query: ReadRaw) => AsyncGenerator<T, R>): AsyncGenerator<T, R>;
  /** The same for all tenants. */
  readonly settings: DatabaseSettings;
  /** The tenant that statements are executed for; undefined: for whom the role of the connection may. */
  readonly tenant: string | undefined;
  /** The same connections, for one tenant: other tenants' rows are not there. */
  forTenant(scope: Scope): Database;
  close(): Promise<void>;
}

export interface DatabaseSettings {
  /** Threads may be on several nodes: a statement concerns one of them, or only looks. */
  distributed: boolean;
  /** The largest context of a lane, in bytes; undefined for the default of the database, 32 MiB. */
  maxContextBytes?: number | undefined;
  /** Texts of more bytes are kept out of the log; undefined: none is. */
  largeContentBytes?: number | undefined;
}

export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  max?: number;
  /** Use named prepared statements; turn off behind PgBouncer < 1.21 in transaction mode. */
  prepare?: boolean;
  applicationName?: string;
  /**
   * How long connecting may take, and how long a statement; default 10 s and 30 s, after which PostgreSQL cancels it. A
   * `statement_timeout` in the URL takes its place.
   */
  timeoutMs?: number;
  /** The settings of another pool on the same database, to share; by default, those of a database that is not distributed. */
  settings?: DatabaseSettings;
}

/** A server may accept a connection and then not respond; without this limit, even closing the pool would hang. */
export const connectionTimeoutMillis = 10_000;

/** Our statements take milliseconds: one that takes this long is not worth its caller's wait, nor the server's work. */
const statementTimeoutMs = 30_000;

/** PostgreSQL itself cancels a statement in time: silence for this long means a dead connection. */
const silentMs = 60_000;

/** As long as a function waits for a thread, see `_await_thread` in db/sql; waiting for one's turn counts. */
const lockWaitMs = 2_000;

/** A silent connection must not hold up everything a process writes for as long as a single statement may take. */
const batchTimeoutMs = 15_000;

/**
 * `items`: as many as share a transaction without its subtransactions overflowing PostgreSQL's cache of 64. `inFlight`:
 * while one batch waits for the disk, another is executed; more of them would only be smaller.
 */
const batchLimits = { items: 50, characters: 2 ** 21, inFlight: 3 };

export function openDatabase(options: DatabaseOptions): Database {
  const { max = 10, prepare = true, settings = { distributed: false } } = options;
  const pool = new BoundedPool({
    connectionString: options.url,
    max,
    connectionTimeoutMillis: options.timeoutMs ?? connectionTimeoutMillis,
    query_timeout: options.timeoutMs ?? silentMs,
    ...(/[?&].*statement_timeout/.test(options.url)
      ? {}
      : { statement_timeout: options.timeoutMs ?? statementTimeoutMs }),
    keepAlive: true,
    application_name: options.applicationName ?? 'lanefold',
  });
  /** When a statement last waited in vain. */
  let lockedOutAt = 0;
  const locking = pLimit(Math.max(1, Math.floor(max / 2)));

  const connectionsFor = (scope: Scope | undefined): Database => {
    // as another role a statement has another plan
    const planName = (name: string) => (scope?.role === undefined ? name : `${name}_as_${scope.role}`);
    const query = <Row>(name: string, text: string, values: unknown[] = [], query_timeout?: number): Promise<Row[]> => {
      const timeout = query_timeout ? { query_timeout } : {};
      const statement = { ...(prepare ? { name: planName(name) } : {}), text, values, ...timeout };
      if (scope && settings.distributed) return queryOnNodes(pool, statement, scope);
      return runQuery(pool, statement, scope);
    };
    const gatherers = new Map<string, Gatherer<unknown>>();
    return {
      pool,
      tenant: scope?.tenant,
      settings,
      query: (name, text, values) => query(name, text, values),
      gather<Row>(name: string, text: string, item: string) {
        let gatherer = gatherers.get(name);
        if (!gatherer) {
          gatherer = new Gatherer((items) => query(name, text, [items], batchTimeoutMs), batchLimits);
          gatherers.set(name, gatherer);
        }
        return gatherer.add(item) as Promise<Row>;
      },
      queryLocking(name, text, values) {
        const since = performance.now();
        return locking(async () => {
          const late = performance.now() - since > lockWaitMs;
          if (late && lockedOutAt > since) throw tooManyLocked(locking.concurrency);
          try {
            return await query(name, text, values);
          } catch (error) {
            if (isLanefoldError(error, 'thread_locked')) lockedOutAt = performance.now();
            throw error;
          }
        });
      },
      queryLong: (name, text, values = []) =>
        queryLong(pool, { ...(prepare ? { name: planName(name) } : {}), text, values }, scope, settings.distributed),
      snapshot: (read) => readSnapshot(pool, scope, settings.distributed, read),
      forTenant: connectionsFor,
      close: () => pool.end(),
    };
  };
  return connectionsFor(undefined);
}

const tooManyLocked = (connections: number) =>
  new LanefoldError('database_busy', `${connections} calls of this process wait for threads that others have locked.`, {
    hint: 'Nothing was written; try again. Look in pg_stat_activity for a transaction left open on a thread.',
  });
