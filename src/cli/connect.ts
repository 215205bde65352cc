import type { LanefoldOptions } from '../lanefold-options.ts';
import type { Lanefold } from '../lanefold.ts';
import { LanefoldError } from '../errors.ts';
import type { ConnectionOptions } from './options.ts';
import { note } from './output.ts';

export interface DatabaseHandle {
  url: string;
  /** A connection past any pooler, for migrations and the queue on PostgreSQL. */
  directUrl: string;
  /** Whether this process started the database, and so must migrate it. */
  own: boolean;
  /** Announces that `release` will follow, after work that takes its time. */
  retire(): Promise<void>;
  /** Stops the PostgreSQL if this process started it. */
  release(): Promise<void>;
}

/**
 * The database of a command: the given one, else the embedded one in `dir`. If that is not running, `start` allows
 * starting it for the duration of the command.
 *
 * @throws LanefoldError `database_unreachable` if none is running and `start` is false; `embedded_postgres_failed`
 */
export async function findDatabase(options: ConnectionOptions, { start }: { start: boolean }): Promise<DatabaseHandle> {
  const given = options.databaseUrl;
  if (given) {
    const directUrl = process.env['LANEFOLD_DIRECT_URL'] || given;
    return { url: given, directUrl, own: false, retire: async () => {}, release: async () => {} };
  }
  const { findEmbeddedPostgres, startEmbeddedPostgres } = await import('../postgres/embedded/index.ts');
  const running = await findEmbeddedPostgres(options.dir);
  if (running)
    return { url: running.url, directUrl: running.url, own: false, retire: async () => {}, release: async () => {} };
  if (!start) {
    throw new LanefoldError(
      'database_unreachable',
      `No database is configured, and none is running in ${options.dir}.`,
      {
        hint: 'Set DATABASE_URL or --database-url, or keep `lanefold worker` running here; it starts one.',
      },
    );
  }
  note(`starting PostgreSQL in ${options.dir}`);
  const embedded = await startEmbeddedPostgres({ dir: options.dir });
  const ending = { retire: () => embedded.retire(), release: () => embedded.stop() };
  return { url: embedded.url, directUrl: embedded.url, own: true, ...ending };
}

/** Connects to the database and queue of the command; `close` also stops a PostgreSQL started for it. */
export async function connect(
  options: ConnectionOptions,
  { start, ...more }: { start: boolean } & Omit<LanefoldOptions, 'databaseUrl' | 'directUrl' | 'redisUrl'>,
): Promise<Lanefold> {
  const database = await findDatabase(options, { start });
  try {
    const { createLanefold } = await import('../on-demand.ts');
    const lanefold = await createLanefold({
      databaseUrl: database.url,
      directUrl: database.directUrl,
      redisUrl: options.redisUrl || null,
      migrate: database.own,
      ...more,
    });
    const close = async () => {
      await database.retire().catch(() => {});
      await lanefold.close();
      await database.release();
    };
    return { ...lanefold, close };
  } catch (error) {
    await database.release();
    throw error;
  }
}
