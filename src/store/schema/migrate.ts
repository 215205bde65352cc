import path from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { QuietClient } from '../../postgres/quiet-client.ts';
import { schemaVersion } from '../../../db/schema/version.ts';
import { LanefoldError } from '../../errors.ts';
import { checkDatabaseUrl } from '../../checks/connection-url.ts';
import { packageRoot } from '../../common/package-root.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { applySql } from './apply-sql.ts';
import { untilUnblocked, type LockPatience } from './blocked.ts';
import {
  assertAlone,
  distributeFunctions,
  distributeTables,
  dropLocalCopies,
  hasCitus,
  isFilled,
  restrictReaders,
  separateContents,
} from './distribute.ts';
import { compareContexts, isRemembered, rememberContexts } from './compare-contexts.ts';
import { assertCompatible, isDistributed, readVersions } from './version.ts';

/** `LFOL`, the session lock that lets many processes migrate at once: one does the work, the others find it done. */
const lockKey = 0x4c464f4c;

/** SQLSTATE of a missing right. */
const insufficientPrivilege = '42501';

export interface MigrateResult {
  from: number;
  to: number;
  /** `newer`: the database was migrated by newer, compatible code and is left as it is. */
  status: 'migrated' | 'current' | 'newer';
  /** The database has Citus, and its threads are all on the coordinator: see `distribute`. */
  undistributed?: true;
}

export interface MigrateOptions extends LockPatience {
  /** Also BullMQ's own schema, for the queue on PostgreSQL; default true. */
  queueTables?: boolean;
  /**
   * Distributes a database that has threads over the nodes of Citus; no other process may be connected. A database
   * without threads is always distributed.
   */
  distribute?: boolean;
}

/** Migrates the database at `url` to this code's schema. See `migrate` of the package. */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<MigrateResult> {
  checkDatabaseUrl(url, 'The URL of the database');
  const { queueTables = true } = options;
  const client = new QuietClient({ connectionString: url, application_name: 'lanefold migrate' });
  try {
    await client.connect();
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await becomeOwner(client);
    const from = await readVersions(client);
    assertCompatible(from);
    if (from.schema > schemaVersion) return { from: from.schema, to: from.schema, status: 'newer' };
    const citus = await hasCitus(client);
    const changed = await untilUnblocked(client, options, async () => {
      // the queue stays on the coordinator
      if (citus) await client.query('set citus.enable_ddl_propagation = off');
      if (queueTables) await (await import('bullmq')).runMigrations(client);
      if (citus) await client.query('reset citus.enable_ddl_propagation');
      await applyMigrations(drizzle(client), {
        migrationsFolder: path.join(packageRoot, 'db/migrations'),
        migrationsSchema: 'drizzle',
        migrationsTable: '__lanefold_migrations',
      });
      const applied = await applySql(client);
      const distributed = citus && (await distribute(client, options.distribute ?? false));
      if (queueTables) await client.query('select lanefold._give_queue()');
      return applied || distributed;
    });
    return {
      ...{ from: from.schema, to: schemaVersion, status: changed ? 'migrated' : 'current' },
      ...(citus && !(await isDistributed(client)) ? { undistributed: true } : {}),
    };
  } catch (error) {
    throw refusedMigration(error);
  } finally {
    // Ending the session releases the lock, whatever happened.
    await client.end().catch(() => {});
  }
}

/** Says how to migrate as another role, if this one may not. */
function refusedMigration(error: unknown): unknown {
  const known = fromPostgres(error);
  if (!(known instanceof LanefoldError) || known.details?.['sqlstate'] !== insufficientPrivilege) return known;
  return new LanefoldError('database_error', `The migration was refused. ${known.message}`, {
    hint:
      '`lanefold dev` and `createLanefold({ migrate: true })` migrate before they start. Run `lanefold migrate` as the owner ' +
      'of the schema, or as a migrator of `lanefold roles`; then start `lanefold api` and `lanefold worker`, which do not ' +
      'migrate.',
    details: known.details,
    cause: error,
  });
}

/** Takes on the owner's role if this role is a member of it, so that everything created here belongs to the owner. */
async function becomeOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(
    `select n.nspowner::regrole::text as owner from pg_namespace n
     where n.nspname = 'lanefold' and n.nspowner <> (select oid from pg_roles where rolname = current_user) and current_setting('is_superuser') = 'off'
       and pg_has_role(n.nspowner, 'member')`,
  );
  if (rows[0]) await client.query(`set role ${rows[0].owner}`);
}

/** Distributes an empty database, what a migration added to a distributed one, and a filled one only if `asked`. */
async function distribute(client: pg.Client, asked: boolean): Promise<boolean> {
  const filled = await isFilled(client);
  if (filled && !asked) return false;
  if (filled || (await isRemembered(client))) await assertAlone(client);
  if (!(await isDistributed(client))) await restrictReaders(client);
  if (filled) {
    await rememberContexts(client);
    await separateContents(client);
  }
  const tables = await distributeTables(client);
  if (tables) await applySql(client);
  const functions = await distributeFunctions(client);
  await compareContexts(client);
  if (asked) await dropLocalCopies(client);
  return functions || tables;
}
