import { LanefoldError } from '../../base/errors.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { AuditedAct } from '../../database/store/access/audited-act.ts';
import type { TenantLibrary } from './library.ts';

/** What the API and other entry points need of a library besides its methods. */
interface Internals {
  db: Database;
  /** The same library for one request, whose acts write their rows to the audit. */
  auditing(acts: readonly AuditedAct[]): TenantLibrary;
}

/** Keyed by `threads`, which all objects made from one library share. */
const known = new WeakMap<object, Internals>();

export function noteInternals(threads: TenantLibrary['threads'], internals: Internals): void {
  known.set(threads, internals);
}

/**
 * The database of a library, for entry points that keep histories of other frameworks in the log.
 *
 * @throws LanefoldError `invalid_input` for anything that `createLanefold` did not return
 */
export function databaseOf(lanefold: Pick<TenantLibrary, 'threads'>, what: string): Database {
  const threads = (lanefold as Partial<TenantLibrary> | null | undefined)?.threads;
  const found = threads && known.get(threads);
  if (found) return found.db;
  throw new LanefoldError('invalid_input', `${what} needs what createLanefold returns.`, {
    hint: 'Pass the result of await createLanefold(), or of its forTenant.',
  });
}

/** The same library for one request, whose acts write their rows to the audit. */
export const auditing = (lanefold: TenantLibrary, acts: readonly AuditedAct[]): TenantLibrary =>
  acts.length === 0 ? lanefold : known.get(lanefold.threads)!.auditing(acts);
