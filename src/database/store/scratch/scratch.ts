import pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { migrate } from '../schema/migrate.ts';
import { QuietClient } from '../../postgres/watched-client.ts';
import { assertSchema } from '../schema/version.ts';

/** A migrated database for one measurement, on the server of another one and with its settings. */
export interface Scratch {
  name: string;
  url: string;
  /** See `Origin`. */
  originId: string;
}

/** SQLSTATE of a missing right. */
const forbidden = '42501';

/**
 * Creates a scratch database, and removes it when `work` has settled. First removes the one that a killed process left.
 *
 * @param client locks the original database: see `lockOrigin`
 * @param url of the original database
 * @throws LanefoldError `database_error` if the role may not create databases
 */
export async function withScratch<T>(
  client: pg.Client,
  url: string,
  { queueTables }: { queueTables: boolean },
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const origin = await describeOrigin(client);
  const { scratch: name } = origin;
  const own = new URL(url);
  own.pathname = `/${name}`;
  try {
    await drop(client, name);
    await create(client, origin);
    await migrate(asOwner(own, origin.owner), { queueTables });
    return await work({ name, url: own.href, originId: origin.id });
  } catch (error) {
    throw fromPostgres(error);
  } finally {
    await remove(client, url, name);
  }
}

async function create(client: pg.Client, { scratch, owner, tablespace, settings }: Origin): Promise<void> {
  const options = [
    // template1 may contain anything, and cannot be copied while a session is connected to it
    'template template0',
    ...(owner === null ? [] : [`owner ${pg.escapeIdentifier(owner)}`]),
    ...(tablespace === null ? [] : [`tablespace ${pg.escapeIdentifier(tablespace)}`]),
  ];
  await client.query(`create database ${scratch} ${options.join(' ')}`).catch(async (error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.code !== forbidden) throw error;
    const { rows } = await client.query<{ role: string }>('select current_user::text as role');
    const role = pg.escapeIdentifier(rows[0]!.role);
    throw new LanefoldError('database_error', `Cannot create a scratch database: ${error.message}.`, {
      hint: `Nothing was changed. As a superuser, run: alter role ${role} createdb. Or set LANEFOLD_DIRECT_URL to a role that may create databases.`,
      details: { sqlstate: forbidden },
      cause: error,
    });
  });
  // this session has the settings of its database
  for (const setting of settings)
    await client.query(`alter database ${scratch} set ${pg.escapeIdentifier(setting)} from current`);
}

/** A migration by a superuser would create a role to own the schema, which would stay behind. */
function asOwner(url: URL, owner: string | null): string {
  if (owner === null) return url.href;
  const migrating = new URL(url);
  const role = `-c role=${owner.replace(/[\\ ]/g, '\\$&')}`;
  migrating.searchParams.set('options', [...migrating.searchParams.getAll('options'), role].join(' '));
  return migrating.href;
}

const drop = (client: pg.Client, name: string) => client.query(`drop database if exists ${name} with (force)`);

/** Removes the scratch database, over another connection if this one broke. */
async function remove(client: pg.Client, url: string, name: string): Promise<void> {
  try {
    await drop(client, name).catch(async () => {
      await client.end().catch(() => {});
      const again = await lockOrigin(url);
      await drop(again, name).finally(() => again.end());
    });
  } catch (error) {
    throw new LanefoldError(
      'database_error',
      `The scratch database ${name} could not be removed: ${(error as Error).message}`,
      {
        hint: `The next \`lanefold bench\` of this database removes it, or run: drop database ${name} with (force).`,
        cause: error,
      },
    );
  }
}

/** `LFSD`, the session lock of the process that may use and remove the scratch database of a database. */
const lockKey = 0x4c465344;

/**
 * Connects to a database and locks its scratch database for as long as the connection lives.
 *
 * @throws LanefoldError `database_busy` if another process holds the lock; `database_outdated`, `database_too_new`,
 * `database_unreachable`
 */
export async function lockOrigin(url: string): Promise<pg.Client> {
  const client = new QuietClient({ connectionString: url, application_name: 'lanefold bench', keepAlive: true });
  try {
    await client.connect();
    await assertSchema(client);
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockKey]);
    if (rows[0]!.locked) return client;
    throw new LanefoldError('database_busy', 'Another `lanefold bench` is measuring this database.', {
      hint: 'Nothing was changed. Wait until it has ended.',
    });
  } catch (error) {
    await client.end().catch(() => {});
    throw fromPostgres(error);
  }
}

/** What a scratch database takes over from the original one. */
export interface Origin {
  /** Names the database among those of all servers. */
  id: string;
  /** The name of its scratch database, always the same: so the next process finds what a killed one left. */
  scratch: string;
  /** The owner of the schema, where the session is a superuser and the owner is not. */
  owner: string | null;
  /** Where it differs from the default. */
  tablespace: string | null;
  /** The names of its settings, `alter database … set …`, as far as any role may change them. */
  settings: string[];
}

export async function describeOrigin(client: pg.Client): Promise<Origin> {
  const { rows } = await client.query<Origin>(
    `select d.oid || '-' || s.system_identifier as id, 'lanefold_bench_' || d.oid as scratch,
       (select o.rolname::text from pg_namespace n join pg_roles o on o.oid = n.nspowner
        where n.nspname = 'lanefold' and not o.rolsuper and current_setting('is_superuser') = 'on') as owner,
       (select t.spcname::text from pg_tablespace t
        where t.oid = d.dattablespace and t.spcname <> 'pg_default') as tablespace,
       array(select p.name from pg_db_role_setting r cross join unnest(r.setconfig) c
         join pg_settings p on p.name = split_part(c, '=', 1) and p.context = 'user'
         where r.setdatabase = d.oid and r.setrole = 0) as settings
     from pg_database d, pg_control_system() s where d.datname = current_database()`,
  );
  return rows[0]!;
}

/** Durations in milliseconds. */
export interface Probes {
  /** Of a statement that does nothing. */
  roundTripMs: number[];
  /** Of a transaction that writes one row, including the round trip. */
  commitMs: number[];
}

/**
 * Measures the way to a server and to its disk on one connection, alternately.
 *
 * @param client connected to a scratch database, which keeps the table for the rows
 */
export async function probe(
  client: pg.Client,
  { rounds, atMostMs }: { rounds: number; atMostMs: number },
): Promise<Probes> {
  const timed = async (statement: pg.QueryConfig) => {
    const from = performance.now();
    await client.query(statement);
    return performance.now() - from;
  };
  await client.query('create table public.probe (n int)');
  const found: Probes = { roundTripMs: [], commitMs: [] };
  const until = performance.now() + atMostMs;
  for (let n = 0; n < rounds && performance.now() < until; n++) {
    found.roundTripMs.push(await timed({ name: 'nothing', text: 'select 1' }));
    found.commitMs.push(await timed({ name: 'row', text: 'insert into public.probe values (1)' }));
  }
  return found;
}
