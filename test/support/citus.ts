import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';

/** The folder of a `cluster.sh` that starts Citus on this machine; the distributed suites are skipped without it. */
export const citusFolder = process.env['LANEFOLD_CITUS'] ?? '';

export interface CitusCluster {
  /** Superuser URLs: of the coordinator, then of the workers. */
  nodes: string[];
  stop(): Promise<void>;
}

const run = promisify(execFile);

/**
 * Starts a coordinator and workers, without durability. They may run as another user, who must be able to enter `dir`.
 *
 * @param namespace the network namespace in which they run; the URLs then lead to their socket files
 */
export async function startCitus(dir: string, workers = 2, namespace?: string): Promise<CitusCluster> {
  const script = path.join(citusFolder, 'cluster.sh');
  const port = await freePorts(workers + 1);
  // one at a time: the first may install a server
  const lock = path.join(tmpdir(), 'lanefold-citus.lock');
  const inside = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  await run('flock', ['-o', lock, ...inside, script, 'start', dir, String(port), String(workers)]);
  const socket = (i: number) => (namespace === undefined ? '' : `?host=${path.join(dir, `node${i}`)}`);
  const nodes = Array.from(
    { length: workers + 1 },
    (_, i) => `postgres://postgres@127.0.0.1:${port + i}/postgres${socket(i)}`,
  );
  const settings = [
    'fsync = off',
    'citus.shard_count = 4',
    'citus.enable_stat_counters = on',
    "track_functions = 'all'",
    'citus.enable_create_database_propagation = off',
  ];
  const change = [...settings.map((setting) => `alter system set ${setting}`), 'select pg_reload_conf()'];
  await Promise.all(nodes.map((url) => statements(url, ...change)));
  return { nodes, stop: async () => void (await run(script, ['stop', dir])) };
}

/** The first of several free ports in a row, below those that systems give away to connections. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + ((await freePort()) % 10_000);
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(first + i)));
    if (free.every(Boolean)) return first;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** Executes statements on one connection, one by one. */
export async function statements(url: string, ...texts: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of texts) await client.query(text);
  } finally {
    await client.end();
  }
}

/** The URL of a database beside the one of `url`. */
export function databaseAt(url: string, name: string): string {
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/** The URL of a database as a role that logs in reaches it. */
export function urlAs(url: string, role: string, password: string): string {
  const own = new URL(url);
  own.username = role;
  own.password = password;
  return own.href;
}

/** Makes an empty database on every node, and returns the URL of the one on the coordinator. */
export async function createDatabases(nodes: readonly string[], name: string): Promise<string> {
  await Promise.all(nodes.map((node) => statements(node, `create database ${name}`)));
  return databaseAt(nodes[0]!, name);
}

/** Makes the databases of the nodes one. */
export async function connectNodes(nodes: readonly string[], name: string): Promise<void> {
  const [coordinator, ...others] = nodes.map((node) => databaseAt(node, name)) as [string, ...string[]];
  for (const node of [coordinator, ...others]) await statements(node, 'create extension citus');
  const address = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`;
  await statements(
    coordinator,
    `select citus_set_coordinator_host(${address(coordinator)})`,
    ...others.map((other) => `select citus_add_node(${address(other)})`),
  );
}

/** Makes an empty database that may be distributed over the nodes, and returns its URL. */
export async function createCluster(nodes: readonly string[], name: string): Promise<string> {
  const url = await createDatabases(nodes, name);
  await connectNodes(nodes, name);
  return url;
}

/** Lets nobody in, not even the daemon of Citus, so that a database may be copied. */
export async function closeDatabase(nodes: readonly string[], name: string): Promise<void> {
  const end = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`;
  await Promise.all(nodes.map((node) => statements(node, `alter database ${name} with allow_connections false`, end)));
}
