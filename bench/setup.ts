import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startRedis } from '../src/ops/chaos/services/redis.ts';
import { startEmbeddedPostgres } from '../src/database/postgres/embedded/index.ts';
import { migrate } from '../src/database/store/schema/migrate.ts';

/** Servers of the benchmarks. PostgreSQL is as durable as in production, with fsync and synchronous_commit on. */
export interface Servers {
  redisUrl: string | undefined;
  pids: { postgres: number; redis: number | undefined };
  /** Creates and migrates a new database. */
  database(): Promise<string>;
  emptyDatabase(): Promise<string>;
  emptyFolder(): Promise<string>;
  /** Size of a database after a checkpoint, in bytes. */
  sizeOf(databaseUrl: string): Promise<number>;
  settings: Record<string, string>;
  stop(): Promise<void>;
}

export async function startServers(): Promise<Servers> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-bench-'));
  const postgres = await startEmbeddedPostgres({ dir });
  const redis = await startRedis(dir);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  const { rows } = await admin.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('server_version', 'fsync', 'synchronous_commit', 'shared_buffers')",
  );
  let count = 0;
  const emptyDatabase = async () => {
    const name = `bench_${count++}`;
    await admin.query(`create database ${name}`);
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  return {
    redisUrl: redis?.url,
    pids: { postgres: postgres.pid, redis: redis && (await pidOf(redis.url)) },
    emptyDatabase,
    async emptyFolder() {
      const folder = path.join(dir, `folder_${count++}`);
      await mkdir(folder);
      return folder;
    },
    async sizeOf(databaseUrl) {
      await admin.query('checkpoint');
      const name = new URL(databaseUrl).pathname.slice(1);
      const { rows } = await admin.query<{ size: string }>('select pg_database_size($1) as size', [name]);
      return Number(rows[0]!.size);
    },
    settings: Object.fromEntries(rows.map((row) => [row.name, row.setting])),
    async database() {
      const url = await emptyDatabase();
      await migrate(url);
      return url;
    },
    async stop() {
      await admin.end();
      await redis?.stop();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function pidOf(redisUrl: string): Promise<number> {
  const redis = new Redis(redisUrl);
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)![1]);
}
