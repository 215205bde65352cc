import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { migrate } from 'lanefold';
import pg from 'pg';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';

/** The folder of a `cluster.sh` that starts Citus on this machine. */
const folder = process.env['LANEFOLD_CITUS'];
const run = promisify(execFile);

export interface Nodes {
  /** Superuser URL of the migrated database on the coordinator, or on the only server. */
  url: string;
  /** The same on the workers. */
  workers: string[];
  stop(): Promise<void>;
}

/**
 * Starts a coordinator and workers, as durable as in production. Without workers it is a plain PostgreSQL of the same
 * version and settings: the Citus library is loaded, but the database does not have the extension.
 */
export async function startNodes(workers: number, settings: readonly string[] = []): Promise<Nodes> {
  if (!folder) throw new Error('Set LANEFOLD_CITUS to the folder with the cluster.sh that starts Citus.');
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-bench-citus-'));
  await chmod(dir, 0o755);
  const script = path.join(folder, 'cluster.sh');
  const nodes = path.join(dir, 'nodes');
  // below the ephemeral ports that systems assign to connections
  const port = 20_000 + ((await freePort()) % 10_000);
  await run(script, ['start', nodes, String(port), String(workers)]);
  const [url, ...others] = Array.from(
    { length: workers + 1 },
    (_, i) => `postgres://postgres@127.0.0.1:${port + i}/postgres`,
  ) as [string, ...string[]];
  if (workers === 0) await execute(url, 'drop extension citus cascade');
  for (const node of [url, ...others])
    await execute(node, ...settings.map((setting) => `alter system set ${setting}`), 'select pg_reload_conf()');
  await migrate(url, { queueTables: false });
  const stop = async () => {
    running.delete(stop);
    await run(script, ['stop', nodes]);
    await rm(dir, { recursive: true, force: true });
  };
  running.add(stop);
  return { url, workers: others, stop };
}

const running = new Set<() => Promise<void>>();

/** Stops nodes left by a failed measurement. */
export async function stopNodes(): Promise<void> {
  for (const stop of running) await stop();
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
