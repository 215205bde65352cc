import { findBinaries } from './binaries.ts';
import { connectionUrl, ensureDatabase } from './connection.ts';
import { asEmbeddedFailure, embeddedFailed } from './failure.ts';
import { findHome, openHome } from './home.ts';
import { assertSameMajor, ensureCluster, giveToUser } from './initdb.ts';
import { launch } from './launch.ts';
import { claimData, lockState, readLock } from './postmaster-lock.ts';
import { poll } from './poll.ts';
import { clearRuntime, readRuntime, writeRuntime } from './runtime-file.ts';

/** A running PostgreSQL. It stops on `stop`, or when this process ends. */
export interface EmbeddedPostgres {
  /** Includes the password: `postgresql://postgres:…@127.0.0.1:PORT/DATABASE`. */
  url: string;
  port: number;
  dataDir: string;
  /** Process id of the postmaster. */
  pid: number;
  /** Sends processes that look for it from now on away: they wait until it has stopped. Call it before a slow end. */
  retire(): Promise<void>;
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
    const retire = () => writeRuntime(home.runtime, { pid: server.pid, port, database, stopping: true }, home.user);
    return { url: await connectionUrl(home, port, database), port, dataDir: home.data, pid: server.pid, retire, stop };
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

/** Longer than a worker takes to hand over its runs. */
const retireMs = 60_000;

/** The cluster in `dir` if another live process is running it. One whose process is ending is waited out. */
export async function findEmbeddedPostgres(
  dir: string,
): Promise<{ url: string; port: number; pid: number } | undefined> {
  try {
    const home = await findHome(dir);
    if (!home) return undefined;
    let info = await readRuntime(home.runtime);
    if (info?.stopping) {
      const { pid } = info;
      await poll(async () => (await readLock(home.data))?.pid !== pid || undefined, {
        timeoutMs: retireMs,
        everyMs: 50,
      });
      info = await readRuntime(home.runtime);
    }
    if (!info || (await lockState(home.data)).is !== 'running') return undefined;
    const lock = await readLock(home.data);
    if (lock?.pid !== info.pid || lock.status !== 'ready') return undefined;
    return { url: await connectionUrl(home, info.port, info.database), port: info.port, pid: info.pid };
  } catch (error) {
    throw asEmbeddedFailure(error, dir);
  }
}
