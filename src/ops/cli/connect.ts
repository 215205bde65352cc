import type { LanefoldOptions } from '../../lanefold/options.ts';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import { withoutPassword } from '../../base/checks/connection-url.ts';
import { LanefoldError } from '../../base/errors.ts';
import { type ConnectionOptions, withDatabase, withJson } from './options.ts';
import { note } from './output.ts';
import type { Command } from 'commander';
import type { LanefoldDefinition } from '../../lanefold/definition.ts';

export interface DatabaseHandle {
  url: string;
  /** A connection that bypasses any pooler, for migrations and the queue on PostgreSQL. */
  directUrl: string;
  /** Whether it is an embedded one; the processes that share it migrate it. */
  embedded: boolean;
  /** Leaves the embedded PostgreSQL to the processes that share it, or stops it. */
  release(): Promise<void>;
}

/**
 * The database of a command: the given one, else the embedded one in `dir`. If that is not running and `start` is true,
 * it runs for the duration of the command.
 *
 * @throws LanefoldError `database_unreachable` if no database is running and `start` is false; `embedded_postgres_failed`
 */
export async function findDatabase(options: ConnectionOptions, { start }: { start: boolean }): Promise<DatabaseHandle> {
  const given = options.databaseUrl;
  if (given) {
    const directUrl = process.env['LANEFOLD_DIRECT_URL'] || given;
    return { url: given, directUrl, embedded: false, release: async () => {} };
  }
  const { joinEmbeddedPostgres, startEmbeddedPostgres } = await import('../../database/postgres/embedded/index.ts');
  const { dir } = options;
  const found = start ? await startEmbeddedPostgres({ dir, onStart: noteStart(dir) }) : await joinEmbeddedPostgres(dir);
  if (found) return { url: found.url, directUrl: found.url, embedded: true, release: found.stop };
  throw new LanefoldError('database_unreachable', `No database is configured or running in ${dir}.`, {
    hint: 'Set DATABASE_URL or --database-url, or keep `lanefold worker` running here; it starts one.',
  });
}

/** How to open the database. The password of the embedded one is in no other place; psql asks for other passwords. */
export const psqlOf = ({ databaseUrl }: Pick<Lanefold, 'databaseUrl'>, given: ConnectionOptions): string =>
  `psql "${given.databaseUrl ? withoutPassword(databaseUrl) : databaseUrl}"`;

const noteStart = (dir: string) => () => note(`starting PostgreSQL in ${dir}`);

/**
 * Connects to the database and queue of the command; `close` also leaves the embedded PostgreSQL. A command that `serves`
 * says what it waits for until then.
 */
export async function connect(
  options: ConnectionOptions,
  {
    start,
    serves = false,
    ...more
  }: { start: boolean; serves?: boolean } & Omit<LanefoldOptions, 'databaseUrl' | 'directUrl' | 'redisUrl'>,
): Promise<Lanefold> {
  const { openLanefold } = await import('../../lanefold/open.ts');
  const progress = serves ? { onStep: (text: string) => note(text) } : {};
  // also for commands without an option for it: the database has no queue where Redis has it
  const redisUrl = options.redisUrl || process.env['REDIS_URL'] || null;
  // check the options before starting a database
  if (start && !options.databaseUrl)
    return openLanefold(
      { embeddedDir: options.dir, redisUrl, ...more },
      { onStart: noteStart(options.dir), ...progress },
    );
  const { url, directUrl, embedded, release } = await findDatabase(options, { start });
  try {
    const connection = { databaseUrl: url, directUrl, redisUrl, migrate: embedded };
    const lanefold = await openLanefold({ ...connection, ...more }, progress);
    return { ...lanefold, close: () => lanefold.close().finally(release) };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * A command of a group that works on a database, such as `lanefold keys list`. Without a command, a group does what its `list`
 * does.
 */
export function subcommand(group: Command, name: string, summary: string): Command {
  const isDefault = name === 'list';
  const command = withJson(withDatabase(group.command(name, { isDefault })))
    .summary(summary)
    .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`);
  if (isDefault)
    group
      .description(`${group.description()} Without a command, does what \`list\` does.`.trim())
      .addHelpText('after', () => `\n${command.helpInformation()}`.trimEnd());
  return command;
}

/** Connects for the duration of `act`, and by default starts the embedded database if no database is configured or running. */
export async function withLanefold(
  options: ConnectionOptions,
  act: (lanefold: Lanefold) => Promise<void>,
  more: LanefoldDefinition & { start?: boolean } = {},
): Promise<void> {
  const lanefold = await connect(options, { start: true, ...more });
  try {
    await act(lanefold);
  } finally {
    await lanefold.close();
  }
}
