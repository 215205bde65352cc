import pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { QuietClient } from '../../postgres/quiet-client.ts';
import { assertSchema } from '../schema/version.ts';

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
