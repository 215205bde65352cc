import { findBinaries } from './binaries.ts';
import { connectionUrl, ensureDatabase, clearRuntime, writeRuntime } from './runtime-file.ts';
import { asEmbeddedFailure, embeddedFailed } from './failure.ts';
import { findHome, openHome, type Home } from './home.ts';
import { assertSameMajor, ensureCluster, giveToUser } from './initdb.ts';
import { joinRunning, type EmbeddedPostgres } from './join.ts';
import { launch } from './launch.ts';

export type { EmbeddedPostgres } from './join.ts';

export interface EmbeddedPostgresOptions {
  /** Folder for data, password, log and runtime file. */
  dir: string;
  /** Preferred port; another one is used if it is taken. */
  port?: number;
  /** Folder with `postgres` and `initdb`; default: search for one. */
  binDir?: string;
  /** Extra server settings, as in postgresql.conf. */
  settings?: Record<string, string>;
  /** Database to use, created if missing; default `postgres`. */
  database?: string;
  /** Called before a server is started, which takes seconds. */
  onStart?: (() => void) | undefined;
}

/** How long to retry while other processes keep starting a server first and ending before this one can join it. */
const raceMs = 30_000;

/** Undefined if another process was faster. */
async function launchIn(home: Home, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres | undefined> {
  const { database = 'postgres' } = options;
  options.onStart?.();
  const binaries = await findBinaries(options.binDir, home.user);
  await ensureCluster(home, binaries);
  await assertSameMajor(home, binaries);
  await giveToUser(home);
  const launched = await launch(home, binaries, options);
  if (!launched) return undefined;
  const { server, port } = launched;
  const { pid } = server;
  const stop = async () => {
    if (await server.stop()) await clearRuntime(home.runtime, pid);
  };
  try {
    await ensureDatabase(home, port, database);
    const url = await connectionUrl(home, port, database);
    // other processes can join from here on
    await writeRuntime(home.runtime, { pid, port, database }, home.user);
    return { url, port, dataDir: home.data, pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Joins the PostgreSQL that other processes run in `dir`, whatever its options, or starts one. Creates the cluster if
 * it is missing.
 *
 * @throws LanefoldError `embedded_postgres_failed`
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32') {
    throw embeddedFailed(
      'The embedded PostgreSQL does not support Windows.',
      'Set DATABASE_URL to use your own PostgreSQL.',
    );
  }
  try {
    const home = await openHome(options.dir);
    for (const giveUpAt = performance.now() + raceMs; ;) {
      const server = (await joinRunning(home)) ?? (await launchIn(home, options));
      if (server) return server;
      if (performance.now() > giveUpAt) {
        throw embeddedFailed(
          `PostgreSQL cannot start in ${home.dir}: ${home.data} is locked, but no process that locked it was found.`,
          `Delete postmaster.pid there if no PostgreSQL uses it, or use another dir.`,
        );
      }
    }
  } catch (error) {
    throw asEmbeddedFailure(error, options.dir);
  }
}

/**
 * Joins the PostgreSQL that other processes run in `dir`; `undefined` if there is none.
 *
 * @throws LanefoldError `embedded_postgres_failed`
 */
export async function joinEmbeddedPostgres(dir: string): Promise<EmbeddedPostgres | undefined> {
  try {
    const home = await findHome(dir);
    return home && (await joinRunning(home));
  } catch (error) {
    throw asEmbeddedFailure(error, dir);
  }
}
