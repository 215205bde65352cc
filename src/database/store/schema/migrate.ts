import path from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { QuietClient } from '../../postgres/watched-client.ts';
import { schemaVersion, minCompatibleVersion } from '../../../../db/schema/version.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { checkDatabaseUrl } from '../../../base/checks/connection-url.ts';
import { packageRoot } from '../../../base/environment.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { untilUnblocked, assertCompatible, isDistributed, readVersions, type LockPatience } from './version.ts';
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
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

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
      from: from.schema,
      to: schemaVersion,
      status: changed ? 'migrated' : 'current',
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

/** Stays on the coordinator until all is distributed: another process may continue an interrupted distribution. */
const remembered = 'lanefold._context_before';

/** One short row for each lane, computed by the database, so that this process holds no contexts. */
const hashes = `
  select thread_id, context_ref, sha256(string_agg(sha256(convert_to(jsonb_build_array(ordinal, anchor_seq, seq, role, content,
    tool_calls, tool_call_id, name, thinking, reasoning_details, provider_metadata, run_id, request_id, refs)::text, 'UTF8')),
    ''::bytea order by ordinal)) as hash
  from lanefold.lane_context group by thread_id, context_ref`;

/** Stores a hash of the context of every lane, before threads move. */
export async function rememberContexts(client: pg.Client): Promise<void> {
  await client.query(`drop table if exists ${remembered}`);
  await client.query(`create table ${remembered} as ${hashes}`);
}

/** Whether a distribution has begun and not finished. */
async function isRemembered(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select from pg_class where oid = to_regclass($1)', [remembered]);
  return rows.length > 0;
}

/**
 * Compares the contexts with the stored hashes, if there are any.
 *
 * @throws LanefoldError `database_error`
 */
export async function compareContexts(client: pg.Client): Promise<void> {
  if (!(await isRemembered(client))) return;
  await client.query('drop table if exists pg_temp.context_after');
  await client.query(`create temporary table context_after as ${hashes}`);
  const { rows } = await client.query<{ thread: string; lane: string }>(
    `select coalesce(b.thread_id, a.thread_id) as thread, coalesce(b.context_ref, a.context_ref) as lane
     from ${remembered} b full join context_after a on a.thread_id = b.thread_id and a.context_ref = b.context_ref
     where a.hash is distinct from b.hash limit 1`,
  );
  const [differs] = rows;
  if (differs) {
    throw new LanefoldError(
      'database_error',
      `The context of lane ${differs.lane} of thread ${differs.thread} changed during the distribution.`,
      {
        hint: `Unless a process wrote to the database meanwhile, the distribution changed rows: start no process, restore the backup, and please report this. ${remembered} has the earlier hash of every context.`,
        details: differs,
      },
    );
  }
  await client.query(`drop table ${remembered}, pg_temp.context_after`);
}

/** A semicolon, or text in which one ends no statement: a comment, a string, a body in dollar quotes. */
// eslint-disable-next-line regexp/no-super-linear-move -- reads the SQL of the package
const token = /--.*$|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|;/gm;

/** The statements of a file of SQL, as written, each with the comment before it. */
function statements(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const { 0: match, index } of text.matchAll(token)) {
    if (match !== ';') continue;
    found.push(text.slice(start, index + 1).trim());
    start = index + 1;
  }
  return found;
}

/**
 * The files of db/sql in an order that works: views over the tables, functions that may return rows of a view,
 * triggers, comments, then policies, owner and grants, which cover all of these. Functions may call each other, so
 * their bodies are checked only at first use, when all functions exist.
 */
function sqlFiles(): string[] {
  const root = path.join(packageRoot, 'db/sql');
  const rooms = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const nouns = rooms.filter((room) => room !== 'views' && room !== 'triggers').sort();
  const files = ['views', ...nouns, 'triggers'].flatMap((room) =>
    readdirSync(path.join(root, room))
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .map((file) => path.join(root, room, file)),
  );
  return [...files, ...['comments.sql', 'tenants.sql', 'owner.sql', 'grants.sql'].map((file) => path.join(root, file))];
}

/** Applies db/sql in one transaction, unless the database has this text already. Returns whether it did. */
export async function applySql(client: pg.Client): Promise<boolean> {
  const texts = sqlFiles().map((file) => readFileSync(file, 'utf8'));
  const versions = `
    create or replace function lanefold.schema_version() returns int language sql immutable as 'select ${schemaVersion}';
    create or replace function lanefold.min_compatible_version() returns int language sql immutable as 'select ${minCompatibleVersion}';`;
  const hash = createHash('sha256').update(versions).update(texts.join('\n')).digest('hex');
  // a backup restored without its owners belongs to a superuser, whom no policy binds
  const known = await client.query(
    `select obj_description(to_regproc('lanefold._lock_thread')::oid, 'pg_proc') as hash,
       current_setting('is_superuser') = 'on' and exists (select from pg_namespace n join pg_roles r on r.oid = n.nspowner
         where n.nspname = 'lanefold' and (r.rolsuper or r.rolbypassrls)) as unprotected`,
  );
  if (known.rows[0]?.hash === hash && !known.rows[0].unprotected) return false;
  await client.query('begin; set local check_function_bodies = off');
  // one by one: a distributed database sends each to its nodes as it is written
  for (const statement of [versions, ...texts].flatMap(statements)) await client.query(statement);
  await client.query(`comment on function lanefold._lock_thread(text) is '${hash}'; commit`);
  return true;
}
