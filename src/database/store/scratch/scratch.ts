import pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { migrate } from '../schema/migrate.ts';
import { describeOrigin, lockOrigin, type Origin } from './origin.ts';

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
