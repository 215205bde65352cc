import { randomBytes } from 'node:crypto';
import { rm, appendFile, writeFile, cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../database/postgres/embedded/index.ts';
import { migrate } from '../../../database/store/schema/migrate.ts';
import { delay } from '../../../base/common/timer.ts';
import { QuietClient } from '../../../database/postgres/watched-client.ts';

/** A time without PostgreSQL, in milliseconds since the epoch. */
export interface Crash {
  beganAt: number;
  at: number;
}

/** The campaign's PostgreSQL. Workers and clients use an ordinary role, so that connections can run out for them. */
export interface ChaosPostgres {
  /** URL of the superuser; changes if a restart or a failover moves the port. */
  adminUrl(): string;
  /** URL of the ordinary role, through a proxy's port or direct. */
  url(port?: number): string;
  port(): number;
  /** The value of `LANEFOLD_DIR` that opens this database later. */
  dir(): string;
  /** The crashes and failovers until now. What did not wait for the disk may have been lost in them. */
  readonly crashes: readonly Crash[];
  /** Immediate shutdown, like `pg_ctl -m immediate`, then a start that recovers from the write-ahead log. */
  crash(): Promise<void>;
  /** Starts a standby that every commit waits for. */
  addStandby(): Promise<void>;
  /** Immediate shutdown for good; the standby becomes the primary, on its own port. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const role = 'campaign';
/** Small enough to exhaust quickly. */
const maxConnections = 120;

export async function startChaosPostgres(folder: string): Promise<ChaosPostgres> {
  let made = 0;
  const newDir = () => path.join(folder, `postgres-${++made}`);
  let dir = newDir();
  const settings = { ...replicationSettings, max_connections: String(maxConnections), log_min_messages: 'panic' };
  const database = 'campaign';
  const start = (port?: number) => startEmbeddedPostgres({ dir, settings, database, ...(port ? { port } : {}) });
  let server = await start();
  let standby: { server: EmbeddedPostgres; dir: string } | undefined;
  const password = randomBytes(12).toString('hex');
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`create role ${role} login password '${password}'; alter database ${database} owner to ${role}`);
  await admin.end();
  const url = (port = server.port) => `postgresql://${role}:${password}@127.0.0.1:${port}/${database}`;
  await migrate(url());
  const crashes: Crash[] = [];
  const crashing = async (down: () => Promise<unknown>) => {
    const beganAt = Date.now();
    await down();
    crashes.push({ beganAt, at: Date.now() });
  };
  return {
    crashes,
    dir: () => dir,
    adminUrl: () => server.url,
    url,
    port: () => server.port,
    crash: () =>
      crashing(async () => {
        process.kill(server.pid, 'SIGQUIT');
        await server.stop();
        server = await start(server.port);
      }),
    async addStandby() {
      const of = newDir();
      standby = { server: await startStandby(server, of, settings), dir: of };
      await makeSynchronous(server);
    },
    async failOver() {
      const gone = { server, dir };
      await crashing(async () => {
        process.kill(gone.server.pid, 'SIGQUIT');
        await gone.server.stop();
        await promote(standby!.server);
        ({ server, dir } = standby!);
      });
      standby = undefined;
      await rm(gone.dir, { recursive: true, force: true });
    },
    async stop() {
      await server.stop();
      await standby?.server.stop();
    },
  };
}

const name = 'standby';

/** Settings that a primary needs to have standbys; the standbys use them too. */
export const replicationSettings = { wal_keep_size: '256MB', wal_retrieve_retry_interval: '100ms' };

/** Starts a standby of a running server in `dir`, and waits until it streams. */
export async function startStandby(
  primary: EmbeddedPostgres,
  dir: string,
  settings: Record<string, string>,
): Promise<EmbeddedPostgres> {
  const data = await takeBaseBackup(primary, dir);
  return withClient(primary.url, async (client) => {
    await writeFile(path.join(data, 'standby.signal'), '');
    const { username, password, pathname } = new URL(primary.url);
    const source = `host=127.0.0.1 port=${primary.port} user=${username} password=${decodeURIComponent(password)}`;
    // in a file, not in the arguments, so that SQL can change it
    await appendFile(
      path.join(data, 'postgresql.auto.conf'),
      `\nsynchronous_standby_names = ''\nprimary_conninfo = '${source} application_name=${name}'\n`,
    );
    const standby = await startEmbeddedPostgres({ dir, settings, database: pathname.slice(1) });
    const streaming = "select 1 from pg_stat_replication where application_name = $1 and state = 'streaming'";
    while ((await client.query(streaming, [name])).rowCount === 0) await delay(20);
    return standby;
  });
}

/** From now on a commit of the primary is acknowledged once its standby has it. */
export const makeSynchronous = (primary: EmbeddedPostgres): Promise<void> =>
  withClient(primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${name}'`);
    await client.query('select pg_reload_conf()');
    const synchronous = "select 1 from pg_stat_replication where application_name = $1 and sync_state = 'sync'";
    while ((await client.query(synchronous, [name])).rowCount === 0) await delay(20);
  });

/** From now on a commit is acknowledged by the primary alone. */
export const makeAsynchronous = (primary: EmbeddedPostgres): Promise<void> =>
  withClient(primary.url, async (client) => {
    await client.query("alter system set synchronous_standby_names = ''");
    await client.query('select pg_reload_conf()');
    while ((await client.query('show synchronous_standby_names')).rows[0].synchronous_standby_names) await delay(20);
  });

/** Makes the standby a primary; resolves once it accepts writes. */
export const promote = (standby: EmbeddedPostgres): Promise<void> =>
  withClient(standby.url, async (client) => void (await client.query('select pg_promote(true, 60)')));

/** Stops the stream to a standby that keeps answering queries: it no longer receives the primary's commits. */
export const detach = (standby: EmbeddedPostgres): Promise<void> =>
  withClient(standby.url, async (client) => {
    await client.query("alter system set primary_conninfo = ''");
    await client.query('select pg_reload_conf()');
    while ((await client.query('select 1 from pg_stat_wal_receiver')).rowCount !== 0) await delay(20);
  });

/**
 * Copies a running server to the folder of another embedded one, which must recover from the write-ahead log. The
 * embedded PostgreSQL has no pg_basebackup. Returns the data folder.
 */
export async function takeBaseBackup(primary: EmbeddedPostgres, dir: string): Promise<string> {
  const cluster = path.join(dir, 'cluster');
  const data = path.join(cluster, 'data');
  return withClient(primary.url, async (client) => {
    await client.query("select pg_backup_start('lanefold', fast => true)");
    await copyCluster(path.dirname(primary.dataDir), cluster);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(path.join(data, 'backup_label'), rows[0]!.labelfile);
    return data;
  });
}

/** Excluded from a base backup: the write-ahead log, which is streamed, and files of the running server. */
const omitted =
  /^(postmaster\.(pid|opts)|(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.*|.*pgsql_tmp.*|.*pg_internal\.init.*)$/;

async function copyCluster(from: string, to: string): Promise<void> {
  const data = path.join(from, 'data');
  const filter = (file: string) => !omitted.test(path.relative(data, file));
  for (let left = 10; ; left--) {
    await mkdir(to, { recursive: true });
    try {
      return await cp(from, to, { recursive: true, filter });
    } catch (error) {
      // the running server deleted a file while the folder was being read
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || left === 0) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}

/** Connects for the time of `work`. */
export async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new QuietClient({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
