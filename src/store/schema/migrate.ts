import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { QuietClient } from '../../postgres/quiet-client.ts';
import { minCompatibleVersion, schemaVersion } from '../../../db/schema/version.ts';
import { checkDatabaseUrl } from '../../connection-url.ts';
import { packageRoot } from '../../package-root.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { untilUnblocked, type LockPatience } from './blocked.ts';
import { assertCompatible, readVersions } from './version.ts';

/** `LFOL`, the session lock that lets many processes migrate at once: one works, the others find it done. */
const lockKey = 0x4c464f4c;

export interface MigrateResult {
  from: number;
  to: number;
  /** `newer`: the database was migrated by newer, compatible code and is left as it is. */
  status: 'migrated' | 'current' | 'newer';
}

export interface MigrateOptions extends LockPatience {
  /** Also BullMQ's own schema, for the queue on PostgreSQL; default true. */
  queueTables?: boolean;
}

/**
 * Brings the database at `url` (a direct connection, not a transaction pooler) to this code's schema: the tables by
 * Drizzle's migrations, then functions, views and triggers under db/sql where their text changed.
 *
 * A table that a transaction holds is waited for in short turns, between which its writers get theirs.
 *
 * @throws LanefoldError `invalid_input` for a URL of something else, `thread_locked`, naming the session that holds a table for longer than `lockPatienceMs`
 */
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
    const changed = await untilUnblocked(client, options, async () => {
      if (queueTables) await (await import('bullmq')).runMigrations(client);
      await applyMigrations(drizzle(client), {
        migrationsFolder: path.join(packageRoot, 'db/migrations'),
        migrationsSchema: 'drizzle',
        migrationsTable: '__lanefold_migrations',
      });
      const applied = await applySql(client);
      if (queueTables) await client.query('select lanefold._give_queue()');
      return applied;
    });
    return { from: from.schema, to: schemaVersion, status: changed ? 'migrated' : 'current' };
  } catch (error) {
    throw fromPostgres(error);
  } finally {
    // Ending the session releases the lock, whatever happened.
    await client.end().catch(() => {});
  }
}

/** What a member of the owner's role makes must belong to the owner as well. */
async function becomeOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(
    `select n.nspowner::regrole::text as owner from pg_namespace n
     where n.nspname = 'lanefold' and n.nspowner <> current_user::regrole and current_setting('is_superuser') = 'off'
       and pg_has_role(n.nspowner, 'member')`,
  );
  if (rows[0]) await client.query(`set role ${rows[0].owner}`);
}

/**
 * The files of db/sql in an order that works: views over the tables, functions that may return rows of a view, triggers,
 * comments, then policies, owner and grants, which look at all of them. Functions may call each other, so their bodies are checked when all are there: at first use.
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

async function applySql(client: pg.Client): Promise<boolean> {
  const text = sqlFiles()
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const versions = `
    create or replace function lanefold.schema_version() returns int language sql immutable as 'select ${schemaVersion}';
    create or replace function lanefold.min_compatible_version() returns int language sql immutable as 'select ${minCompatibleVersion}';`;
  const hash = createHash('sha256').update(versions).update(text).digest('hex');
  // a backup restored without its owners belongs to a superuser, whom no policy binds
  const known = await client.query(
    `select obj_description(to_regproc('lanefold._lock_thread')::oid, 'pg_proc') as hash,
       current_setting('is_superuser') = 'on' and exists (select from pg_namespace n join pg_roles r on r.oid = n.nspowner
         where n.nspname = 'lanefold' and (r.rolsuper or r.rolbypassrls)) as unprotected`,
  );
  if (known.rows[0]?.hash === hash && !known.rows[0].unprotected) return false;
  await client.query(`begin; set local check_function_bodies = off; ${versions} ${text}
    comment on function lanefold._lock_thread(text) is '${hash}'; commit`);
  return true;
}
