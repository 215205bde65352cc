import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../database/postgres/embedded/index.ts';
import { migrate } from '../../../database/store/schema/migrate.ts';
import { makeSynchronous, promote, replicationSettings, startStandby } from './standby.ts';

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
