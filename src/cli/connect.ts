import type { Lanefold, LanefoldOptions } from '../lanefold.ts';
import { LanefoldError } from '../errors.ts';
import type { ConnectionOptions } from './options.ts';
import { note } from './output.ts';

export interface DatabaseHandle {
  url: string;
  /** For what needs a session: migrations and the queue on PostgreSQL. */
  directUrl: string;
  /** The database is an embedded one this process has started: its schema is this process's to bring up. */
  own: boolean;
  /** Stops a PostgreSQL that was started here. */
  release(): Promise<void>;
}

/**
 * The database of a command: the given one, else the embedded one of `dir`, where it runs already. Where it does not,
 * `start` says whether it is started for the life of the command.
 *
 * @throws LanefoldError `database_unreachable` when nothing runs and nothing may be started; `embedded_postgres_failed`
 */
export async function findDatabase(options: ConnectionOptions, { start }: { start: boolean }): Promise<DatabaseHandle> {
  const given = options.databaseUrl;
  if (given) {
    const directUrl = process.env['LANEFOLD_DIRECT_URL'] || given;
    return { url: given, directUrl, own: false, release: async () => {} };
  }
  const { findEmbeddedPostgres, startEmbeddedPostgres } = await import('../postgres/embedded/index.ts');
  const running = await findEmbeddedPostgres(options.dir);
  if (running) return { url: running.url, directUrl: running.url, own: false, release: async () => {} };
  if (!start) {
    throw new LanefoldError('database_unreachable', `No database is given, and none runs in ${options.dir}.`, {
      hint: 'Set DATABASE_URL or --database-url, or keep `lanefold worker` running here, which starts one.',
    });
  }
  note(`starting PostgreSQL in ${options.dir}`);
  const embedded = await startEmbeddedPostgres({ dir: options.dir });
  return { url: embedded.url, directUrl: embedded.url, own: true, release: () => embedded.stop() };
}

/** A Lanefold on the database and queue of the command; `close` also stops a PostgreSQL that was started for it. */
export async function connect(
  options: ConnectionOptions,
  { start, ...more }: { start: boolean } & Omit<LanefoldOptions, 'databaseUrl' | 'directUrl' | 'redisUrl'>,
): Promise<Lanefold> {
  const database = await findDatabase(options, { start });
  try {
    const { createLanefold } = await import('../lanefold.ts');
    const lanefold = await createLanefold({
      databaseUrl: database.url,
      directUrl: database.directUrl,
      redisUrl: options.redisUrl || null,
      migrate: database.own,
      ...more,
    });
    const close = async () => {
      await lanefold.close();
      await database.release();
    };
    return { ...lanefold, close };
  } catch (error) {
    await database.release();
    throw error;
  }
}
