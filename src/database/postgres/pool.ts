import { processClock, type Clock } from '../../base/common/timer.ts';
import pLimit, { type LimitFunction } from 'p-limit';
import type pg from 'pg';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { BoundedPool } from './bounded-pool.ts';
import { Gatherer, type GatherLimits } from './gather.ts';
import type { Connections, NodeGuard } from './node-guard.ts';
import { queryLong, queryOnNodes } from './query-in-scope.ts';
import { readSnapshot, type ReadRaw } from './read-snapshot.ts';
import { runQuery, announce } from './run-query.ts';
import { atOnce, scopeSettings, type DatabaseScope, type Setting } from './query-with-settings.ts';

export interface Database {
  readonly pool: pg.Pool;
  /**
   * Runs a statement, prepared once per connection under its name; without a name, planned for its values each time. Rejects
   * with a `LanefoldError`.
   */
  query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * Returns the row that answers an item, given as JSON. `text` takes a JSON array of items as its only argument and
   * returns a row for each, in their order; items with the same name share a statement. See `Gatherer`.
   */
  gather<Row>(name: string, text: string, item: string, options?: Partial<GatherLimits>): Promise<Row>;
  /** As `query`, for a statement that may wait for a locked thread: such statements use at most half of the pool. */
  queryLocking<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** As `query`, for a statement that reads many threads and may take two minutes. */
  queryLong<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * Yields what `read` yields, from one snapshot of the database. `read` may query as long as it is iterated. See
   * `readSnapshot`.
   */
  snapshot<T, R>(read: (query: ReadRaw) => AsyncGenerator<T, R>): AsyncGenerator<T, R>;
  /** For lists and statistics, which PostgreSQL then neither compiles nor gives parallel workers. */
  readonly lists: Database;
  /** The same from a follower, if there is one, which may lag behind. See `preferFollower`. */
  readonly reader: Database;
  /** Shared by all tenants. */
  readonly settings: DatabaseSettings;
  /** The tenant that statements are executed for; undefined: all tenants that the connection's role may see. */
  readonly tenant: string | undefined;
  /** Whether the call of a function with these arguments is audited, and so has a statement for itself. */
  audits?(name: string, values: readonly unknown[]): boolean;
  /** The same connections, restricted to one tenant's rows. */
  forTenant(scope: DatabaseScope): Database;
  close(): Promise<void>;
}

export interface DatabaseSettings {
  /** Threads may be on several nodes: a statement writes to one thread, or only reads. */
  distributed: boolean;
  /** The clock of the database, once `createLanefold` has read it. */
  clock: Clock;
  /** Watches the nodes, if threads may be on several. */
  nodes?: NodeGuard;
  /** The largest context of a lane, in bytes; undefined for the default of the database, 32 MiB. */
  maxContextBytes?: number | undefined;
  /** Texts with more bytes are stored outside the log; undefined: all texts stay in the log. */
  largeContentBytes?: number | undefined;
  /** Called after a commit that made deliveries of webhooks due. */
  deliveriesDue?: () => void;
}

export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  max?: number;
  /** Use named prepared statements; turn off behind PgBouncer < 1.21 in transaction mode. */
  prepare?: boolean;
  applicationName?: string;
  /**
   * Time limit for connecting (default 10 s), and for a statement (default 30 s), after which PostgreSQL cancels it. A
   * `statement_timeout` in the URL takes precedence.
   */
  timeoutMs?: number;
  /** Time limit for connecting alone. */
  connectMs?: number;
  /** Silence for this long means a dead connection; longer than `timeoutMs`, at which a server that is alive answers. */
  silentMs?: number;
  /**
   * Settings to share with another pool on the same database; default: settings of a database that is not distributed.
   */
  settings?: DatabaseSettings;
  /** Makes `reader`; default: the database itself is read. A pool that it reads from must share `settings`. */
  readerOf?: (primary: Database, scope: DatabaseScope | undefined) => Database;
}

/** A server may accept a connection and then not respond; without this limit, even closing the pool would hang. */
export const connectionTimeoutMillis = 10_000;

/** Our statements take milliseconds: one that takes this long is cancelled, to protect caller and server. */
const statementTimeoutMs = 30_000;

/** PostgreSQL itself cancels a statement in time: silence for this long means a dead connection. */
const silentMs = 60_000;

/** How long a function waits for a thread, see `_await_thread` in db/sql; waiting for a connection slot counts too. */
const lockWaitMs = 2_000;

/**
 * Shorter than the limit of a single statement, because a silent connection would hold up everything a process writes.
 */
const batchTimeoutMs = 15_000;

/**
 * `items`: the most that fit in one transaction without its subtransactions overflowing PostgreSQL's cache of 64.
 * `inFlight`: while one batch waits for the disk, another is executed; more concurrent batches would only be smaller.
 */
const batchLimits = { items: 50, characters: 2 ** 21, inFlight: 3 };

export function openDatabase(options: DatabaseOptions): Database {
  const { max = 10, prepare = true, settings = { distributed: false, clock: processClock } } = options;
  const pool = poolOf(options, max);
  const locking = lockingCalls(max, settings);

  const connectionsFor = (scope: DatabaseScope | undefined, own: readonly Setting[] = []): Database => {
    // the plan of a statement depends on the role
    const planName = (name: string) => (scope?.role === undefined ? name : `${name}_as_${scope.role}`);
    const prepared = (name: string) => (prepare && name !== '' ? { name: planName(name) } : {});
    const query = <Row>(name: string, text: string, values: unknown[] = [], query_timeout?: number): Promise<Row[]> => {
      const timeout = query_timeout ? { query_timeout } : {};
      const statement = { ...prepared(name), text, values, ...timeout };
      const send = (on: Connections) =>
        scope && settings.distributed
          ? queryOnNodes<Row>(on, statement, scope, settings.nodes)
          : runQuery<Row>(on, statement, [...own, ...scopeSettings(scope)]);
      return settings.nodes ? settings.nodes.send(pool, statement, send) : send(pool);
    };
    const gatherers = new Map<string, Gatherer<unknown>>();
    let lists: Database | undefined;
    let reader: Database | undefined;
    const database: Database = {
      pool,
      tenant: scope?.tenant,
      settings,
      query: (name, text, values) => announce(name, values, query(name, text, values)),
      gather<Row>(name: string, text: string, item: string, options?: Partial<GatherLimits>) {
        let gatherer = gatherers.get(name);
        if (!gatherer) {
          const limits = { ...batchLimits, ...options };
          gatherer = new Gatherer((items) => query(name, text, [items], batchTimeoutMs), limits);
          gatherers.set(name, gatherer);
        }
        return announce(name, [item], gatherer.add(item) as Promise<Row>);
      },
      queryLocking<Row>(name: string, text: string, values: unknown[] = []) {
        const answer = locking(text, values, () => query<Row>(name, text, values));
        return announce(name, values, answer);
      },
      queryLong<Row>(name: string, text: string, values: unknown[] = []) {
        const statement = { ...prepared(name), text, values };
        const send = (on: Connections) => queryLong<Row>(on, statement, scope, settings.distributed);
        return settings.nodes ? settings.nodes.send(pool, statement, send) : send(pool);
      },
      snapshot: (read) => readSnapshot(pool, scope, settings.distributed, read),
      forTenant: (of) => connectionsFor(of, own),
      get lists() {
        lists ??= settings.distributed ? database : connectionsFor(scope, atOnce);
        return lists;
      },
      get reader() {
        reader ??= options.readerOf?.(database.lists, scope) ?? database.lists;
        return reader;
      },
      close: () => pool.end(),
    };
    return database;
  };
  return connectionsFor(undefined);
}

function poolOf({ url, connectMs, timeoutMs, silentMs: silence, applicationName }: DatabaseOptions, max: number) {
  const ownTimeout = url.split('?').slice(1).join('?').includes('statement_timeout');
  return new BoundedPool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectMs ?? timeoutMs ?? connectionTimeoutMillis,
    query_timeout: silence ?? timeoutMs ?? silentMs,
    ...(ownTimeout ? {} : { statement_timeout: timeoutMs ?? statementTimeoutMs }),
    keepAlive: true,
    application_name: applicationName ?? 'lanefold',
  });
}

/**
 * Limits calls that may wait for a locked thread to half of the pool, or to a third of it for each node of a distributed
 * database: they leave connections for other threads.
 */
function lockingCalls(max: number, settings: DatabaseSettings) {
  const limits = new Map<string, LimitFunction>();
  const limitOf = (text: string, values: readonly unknown[]): LimitFunction => {
    const node = settings.nodes ? (settings.nodes.nodeFor(text, values) ?? 'coordinator') : '';
    const most = Math.floor(max / (settings.nodes ? 3 : 2));
    if (!limits.has(node)) limits.set(node, pLimit(Math.max(1, most)));
    return limits.get(node)!;
  };
  /** When a statement last failed to get a lock. */
  let lockedOutAt = 0;
  return <Rows>(text: string, values: readonly unknown[], call: () => Promise<Rows>): Promise<Rows> => {
    const limit = limitOf(text, values);
    const since = performance.now();
    return limit(async () => {
      const late = performance.now() - since > lockWaitMs;
      if (late && lockedOutAt > since) throw tooManyLocked(limit.concurrency);
      try {
        return await call();
      } catch (error) {
        if (isLanefoldError(error, 'thread_locked')) lockedOutAt = performance.now();
        throw error;
      }
    });
  };
}

const tooManyLocked = (connections: number) =>
  new LanefoldError(
    'database_busy',
    `${connections} calls of this process are waiting for threads that other transactions have locked.`,
    {
      hint: 'Nothing was written; try again. Look in pg_stat_activity for a transaction left open on a thread.',
    },
  );
