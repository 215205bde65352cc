import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';
import { until } from './until.ts';

export interface PgBouncer {
  /** URL of the same database and user, through the pooler. */
  url: string;
  stop(): Promise<void>;
}

const places = ['pgbouncer', '/usr/sbin/pgbouncer', '/usr/local/sbin/pgbouncer', '/opt/homebrew/bin/pgbouncer'];

/** Starts the first of `places` that exists. */
async function spawnFirst(config: string): Promise<ChildProcess | undefined> {
  // PgBouncer refuses to run as root
  const identity = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  for (const place of places) {
    const child = spawn(place, ['-q', config], { stdio: ['ignore', 'ignore', 'inherit'], ...identity });
    const started = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false)).once('spawn', () => resolve(true));
    });
    if (started) return child;
  }
  return undefined;
}

/** Starts PgBouncer in transaction mode in front of a database; undefined if it is not installed. `dir` holds its files. */
export async function startPgBouncer(databaseUrl: string, dir: string): Promise<PgBouncer | undefined> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const config = path.join(dir, 'pgbouncer.ini');
  const users = path.join(dir, 'users.txt');
  const database = target.pathname.slice(1);
  await writeFile(users, `"${target.username}" "${decodeURIComponent(target.password)}"\n`);
  await writeFile(
    config,
    `[databases]
${database} = host=${target.hostname} port=${target.port} dbname=${database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
`,
  );
  for (const [file, mode] of [
    [dir, 0o755],
    [config, 0o644],
    [users, 0o644],
  ] as const)
    await chmod(file, mode);
  const child = await spawnFirst(config);
  if (!child) return undefined;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  await until('PgBouncer accepts connections', async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer exited with ${child.exitCode}`);
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => {});
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  });
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
