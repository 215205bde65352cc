import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { isConnectionError, isNodeUnreachable } from './errors.ts';
import type { Database } from './pool.ts';

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
    ...{ pool, tenant, settings, gather, queryLocking, snapshot, close },
    query: (name, text, values) => read((db) => db.query(name, text, values)),
    queryLong: (name, text, values) => read((db) => db.queryLong(name, text, values)),
    forTenant: (scope) => primary.forTenant(scope).reader,
    get reader() {
      return reader;
    },
  };
  return reader;
}

/** PostgreSQL: "canceling statement due to conflict with recovery". */
const isReplayConflict = (error: unknown): boolean =>
  ((error instanceof LanefoldError ? error.cause : error) as { code?: unknown } | undefined)?.code === '40001';
