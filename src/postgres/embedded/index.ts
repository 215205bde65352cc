import { findBinaries } from './binaries.ts';
import { connectionUrl, ensureDatabase } from './connection.ts';
import { asEmbeddedFailure, embeddedFailed } from './failure.ts';
import { findHome, openHome } from './home.ts';
import { assertSameMajor, ensureCluster, giveToUser } from './initdb.ts';
import { launch } from './launch.ts';
import { claimData, lockState, readLock } from './postmaster-lock.ts';
import { clearRuntime, readRuntime, writeRuntime } from './runtime-file.ts';

/** A running PostgreSQL that ends with this process, or before it by `stop`. */
export interface EmbeddedPostgres {
  /** With the password: `postgresql://postgres:…@127.0.0.1:PORT/DATABASE`. */
  url: string;
  port: number;
  dataDir: string;
  /** Of the postmaster. */
  pid: number;
  /** A fast shutdown: open transactions are rolled back. Resolves when the postmaster is gone. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Holds everything: data, password, log, runtime file. */
  dir: string;
  /** Taken if it is free. */
  port?: number;
  /** The folder of `postgres` and `initdb`, instead of looking for one. */
  binDir?: string;
  /** Extra server settings, as in postgresql.conf. */
  settings?: Record<string, string>;
  /** Created if it is missing. */
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

/** Starts the PostgreSQL cluster of `dir`, making it first if needed. Throws `embedded_postgres_failed`. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32') {
    throw embeddedFailed(
      'The embedded PostgreSQL does not run on Windows.',
      'Set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  try {
    return await start(options);
  } catch (error) {
    throw asEmbeddedFailure(error, options.dir);
  }
}

/** The running cluster of `dir`, started by another live process; undefined when there is none. */
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
