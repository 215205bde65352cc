import { isConnectionError, isTransient } from './errors.ts';
import type { Database } from './pool.ts';

/** How long reads leave a follower alone that did not answer. */
const pauseMs = 5_000;

/** Whether a follower answers, as all reads of a process have seen it. */
export class FollowerHealth {
  #pausedUntil = 0;

  get answers(): boolean {
    return performance.now() >= this.#pausedUntil;
  }

  failed(): void {
    this.#pausedUntil = performance.now() + pauseMs;
  }
}

/**
 * The primary, but with `query` and `queryLong` on a follower, which may lag behind: for lists and statistics, never for
 * what is decided or written from. A read that the follower cannot answer goes to the primary: it is down, or has
 * cancelled the statement because it conflicts with what it replays.
 */
export function preferFollower(primary: Database, follower: Database, health: FollowerHealth): Database {
  const read = async <T>(from: (db: Database) => Promise<T>): Promise<T> => {
    if (!health.answers) return from(primary);
    try {
      return await from(follower);
    } catch (error) {
      if (isConnectionError(error)) health.failed();
      else if (!isTransient(error)) throw error;
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
