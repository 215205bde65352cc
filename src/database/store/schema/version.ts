import { schemaVersion } from '../../../../db/schema/version.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Queryable } from '../../postgres/run-query.ts';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import type pg from 'pg';
import { delay } from '../../../base/common/timer.ts';

export interface SchemaVersions {
  /** 0 where there is no schema yet. */
  schema: number;
  minCompatible: number;
}

/** Reads the versions the database carries. Safe on a database that has never seen Lanefold. */
export async function readVersions(on: Queryable): Promise<SchemaVersions> {
  const known = await on.query({ text: "select to_regproc('lanefold.schema_version') is not null as known" });
  if (!known.rows[0]?.['known']) return { schema: 0, minCompatible: 0 };
  const { rows } = await on.query({
    text: 'select lanefold.schema_version() as schema, lanefold.min_compatible_version() as min',
  });
  return { schema: Number(rows[0]!['schema']), minCompatible: Number(rows[0]!['min']) };
}

/** Whether threads are on several nodes (Citus), so that a transaction should not span them. */
export async function isDistributed(on: Queryable): Promise<boolean> {
  const citus = await on.query({ text: "select from pg_extension where extname = 'citus'" });
  if (citus.rows.length === 0) return false;
  const { rows } = await on.query({
    text: "select from pg_dist_partition where logicalrelid = to_regclass('lanefold.thread')",
  });
  return rows.length > 0;
}

/** Older code works on a newer schema as long as that schema says so. */
export function assertCompatible(versions: SchemaVersions): void {
  if (versions.minCompatible <= schemaVersion) return;
  throw new LanefoldError(
    'database_too_new',
    `The database is at schema ${versions.schema}, which needs code for schema ${versions.minCompatible} or newer; this is ${schemaVersion}.`,
    { hint: 'Update the lanefold package of this process. Nothing was changed.', details: { ...versions } },
  );
}

/** Checked before a worker or API starts. */
export async function assertSchema(on: Queryable): Promise<void> {
  const versions = await readVersions(on);
  assertCompatible(versions);
  // An older schema may lack something that this code calls: migrate first.
  if (versions.schema >= schemaVersion) return;
  throw new LanefoldError(
    'database_outdated',
    `The database is at schema ${versions.schema}; this code needs ${schemaVersion}.`,
    { hint: 'Run `lanefold migrate`.', details: { ...versions } },
  );
}

export interface LockPatience {
  /** How long to try, in milliseconds; default 60,000. */
  lockPatienceMs?: number;
  /** Called each time a lock could not be acquired, with a sentence that names the session that holds it. */
  onBlocked?: (message: string) => void;
}

/** Writers queue behind a migration that waits for a table, so it never waits longer than this at a time. */
const turnMs = 2_000;

/**
 * Retries `work` while other transactions hold the tables it needs. It must be one transaction, or safe to repeat.
 *
 * @throws LanefoldError `thread_locked`
 */
export async function untilUnblocked<T>(
  client: pg.Client,
  { lockPatienceMs = 60_000, onBlocked }: LockPatience,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + lockPatienceMs;
  await client.query(`set lock_timeout = ${Math.min(turnMs, lockPatienceMs)}`);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const fault = error instanceof DrizzleQueryError ? error.cause : error;
      if ((fault as { code?: string } | undefined)?.code !== '55P03') throw error;
      await client.query('rollback');
      const message = `The migration waits for ${await findHolder(client)}.`;
      onBlocked?.(message);
      if (performance.now() > giveUpAt) {
        throw new LanefoldError('thread_locked', message, {
          hint: 'Nothing was changed. End that transaction, for example with pg_terminate_backend, and migrate again.',
          cause: error,
        });
      }
      await delay(turnMs / 4);
    }
  }
}

/** The session with the oldest transaction on our tables. */
async function findHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; state: string; seconds: number }>(
    `select a.pid, a.application_name as name, a.state, extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
     from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
     where c.relnamespace in (to_regnamespace('lanefold'), to_regnamespace('bullmq')) and l.granted
       and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())
     order by a.xact_start limit 1`,
  );
  const [holder] = rows;
  if (!holder) return 'a table that another transaction held';
  const { pid, name, state, seconds } = holder;
  return `a table that session ${pid} (${name || 'unnamed'}, ${state}) holds in a transaction of ${seconds} s`;
}
