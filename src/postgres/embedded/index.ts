import { findBinaries } from './binaries.ts';
import { connectionUrl, ensureDatabase } from './connection.ts';
import { asEmbeddedFailure, embeddedFailed } from './failure.ts';
import { findHome, openHome } from './home.ts';
import { assertSameMajor, ensureCluster, giveToUser } from './initdb.ts';
import { launch } from './launch.ts';
import { claimData, lockState, readLock } from './postmaster-lock.ts';
import { clearRuntime, readRuntime, writeRuntime } from './runtime-file.ts';

/** A running PostgreSQL. It stops on `stop`, or when this process ends. */
export interface EmbeddedPostgres {
  /** Includes the password: `postgresql://postgres:…@127.0.0.1:PORT/DATABASE`. */
  url: string;
  port: number;
  dataDir: string;
  /** Process id of the postmaster. */
  pid: number;
  /** Shuts down fast, rolling back open transactions. Resolves when the postmaster has exited. */
  stop(): Promise<void>;
}

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
}

async function start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'postgres' } = options;
  const home = await openHome(options.dir);
  await claimData(home.dir, home.data);
  const binaries = await findBinaries(options.binDir, home.user);
  await ensureCluster(home, binaries);
  await assertSameMajor(home, binaries);
  await giveToUser(home);
  const { server, port } = await launch(home, binaries, options);
  const stop = async () => {
    await server.stop();
    await clearRuntime(home.runtime, server.pid);
  };
  try {
    await ensureDatabase(home, port, database);
    await writeRuntime(home.runtime, { pid: server.pid, port, database }, home.user);
    return { url: await connectionUrl(home, port, database), port, dataDir: home.data, pid: server.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the PostgreSQL cluster in `dir`, creating it if missing. @throws LanefoldError `embedded_postgres_failed` */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32') {
    throw embeddedFailed(
      'The embedded PostgreSQL does not support Windows.',
      'Set DATABASE_URL to use your own PostgreSQL.',
    );
  }
  try {
    return await start(options);
  } catch (error) {
    throw asEmbeddedFailure(error, options.dir);
  }
}

/** The cluster in `dir` if another live process is running it. */
export async function findEmbeddedPostgres(
  dir: string,
): Promise<{ url: string; port: number; pid: number } | undefined> {
  try {
    const home = await findHome(dir);
    const info = home && (await readRuntime(home.runtime));
    if (!info || (await lockState(home.data)).is !== 'running') return undefined;
    const lock = await readLock(home.data);
    if (lock?.pid !== info.pid || lock.status !== 'ready') return undefined;
    return { url: await connectionUrl(home, info.port, info.database), port: info.port, pid: info.pid };
  } catch (error) {
    throw asEmbeddedFailure(error, dir);
  }
}
