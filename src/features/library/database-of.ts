import { LanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { TenantLibrary } from './library.ts';

/** Keyed by `threads`, which all objects made from one library share. */
const databases = new WeakMap<object, Database>();

export function noteDatabase(threads: TenantLibrary['threads'], db: Database): void {
  databases.set(threads, db);
}

/**
 * The database of a library, for entry points that keep histories of other frameworks in the log.
 *
 * @throws LanefoldError `invalid_input` for anything that `createLanefold` did not return
 */
export function databaseOf(lanefold: Pick<TenantLibrary, 'threads'>, what: string): Database {
  const threads = (lanefold as Partial<TenantLibrary> | null | undefined)?.threads;
  const db = threads && databases.get(threads);
  if (db) return db;
  throw new LanefoldError('invalid_input', `${what} needs what createLanefold returns.`, {
    hint: 'Pass the result of await createLanefold(), or of its forTenant.',
  });
}
