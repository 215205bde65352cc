import pg from 'pg';
import { connectionTimeoutMillis, type Database } from './pool.ts';
import { silenceMs, watchedClient } from './watched-client.ts';
import { after, type Timer } from '../../base/common/timer.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { isConnectionError, isNodeUnreachable } from './errors.ts';

export interface Listener {
  close(): Promise<void>;
}

/** Handles a notification; the payload is `undefined` if notifications may have been missed. */
export type OnWake = (payload: string | undefined) => void;

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Listens on channels, all over one connection. Each notification calls the function of its channel; every (re)connect
 * calls all of them, because notifications may have been missed. Notifications are only a wake-up, so listeners must
 * also poll. A connection silent for `limitMs` is replaced. `url` must not be a transaction pooler, because LISTEN
 * needs a session.
 */
export function listen(url: string, channels: Record<string, OnWake>, limitMs = silenceMs): Listener {
  const Client = watchedClient(limitMs);
  let client: InstanceType<typeof Client> | undefined;
  let timer: Timer | undefined;
  let closed = false;
  let pauseMs = firstPauseMs;

  const connect = async () => {
    const settings = { connectionString: url, keepAlive: true, connectionTimeoutMillis, query_timeout: limitMs };
    const own = new Client({ ...settings, application_name: 'lanefold listen' });
    client = own;
    const onLost = () => {
      if (client !== own || closed) return;
      client = undefined;
      own.end().catch(() => {});
      timer = after(pauseMs, () => void connect(), { ref: false });
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };
    own.on('error', onLost).on('end', onLost);
    own.on('notification', (notice) => channels[notice.channel]?.(notice.payload));
    try {
      await own.connect();
      for (const channel of Object.keys(channels)) await own.query(`listen ${pg.escapeIdentifier(channel)}`);
      pauseMs = firstPauseMs;
      for (const onWake of Object.values(channels)) onWake(undefined);
    } catch {
      onLost();
    }
  };
  const connecting = connect();

  return {
    async close() {
      closed = true;
      timer?.cancel();
      await connecting;
      await client?.end().catch(() => {});
    },
  };
}

/** How long reads leave a follower alone that did not answer. */
const pauseMs = 5_000;

/** Whether a follower answers, as all reads of a process have seen it. */
export class FollowerHealth {
  #down = false;
  #triedAt = 0;

  constructor(readonly onError: (error: unknown) => void = () => {}) {}

  /** While the follower is down, one read in five seconds tries it, and all others need not wait for that. */
  mayTry(): boolean {
    if (!this.#down) return true;
    if (performance.now() - this.#triedAt < pauseMs) return false;
    this.#triedAt = performance.now();
    return true;
  }

  answered(): void {
    this.#down = false;
  }

  failed(error: unknown): void {
    this.#down = true;
    this.#triedAt = performance.now();
    this.onError(error);
  }
}

/**
 * The primary, but with `query` and `queryLong` on a follower, which may lag behind: for lists and statistics, never for
 * what is decided or written from. A read goes to the primary while the follower cannot be reached or is silent, or if the
 * follower cancels it: because of what it replays, or because it takes too long.
 */
export function preferFollower(primary: Database, follower: Database, health: FollowerHealth): Database {
  const read = async <T>(from: (db: Database) => Promise<T>): Promise<T> => {
    if (!health.mayTry()) return from(primary);
    try {
      const rows = await from(follower);
      health.answered();
      return rows;
    } catch (error) {
      if (isNodeUnreachable(error)) throw error;
      // no connection became free for a while: those in use wait for a host that is frozen
      if (isConnectionError(error) || isLanefoldError(error, 'database_busy')) health.failed(error);
      else if (!isReplayConflict(error) && !isLanefoldError(error, 'database_timeout')) throw error;
      return from(primary);
    }
  };
  const { pool, tenant, settings, gather, queryLocking, snapshot, close } = primary;
  const reader: Database = {
    pool,
    tenant,
    settings,
    gather,
    queryLocking,
    snapshot,
    close,
    query: (name, text, values) => read((db) => db.query(name, text, values)),
    queryLong: (name, text, values) => read((db) => db.queryLong(name, text, values)),
    forTenant: (scope) => primary.forTenant(scope).reader,
    get lists() {
      return reader;
    },
    get reader() {
      return reader;
    },
  };
  return reader;
}

/** PostgreSQL: "canceling statement due to conflict with recovery". */
const isReplayConflict = (error: unknown): boolean =>
  ((error instanceof LanefoldError ? error.cause : error) as { code?: unknown } | undefined)?.code === '40001';
