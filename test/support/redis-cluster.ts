import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { freePort } from './redis.ts';
import { until } from './until.ts';

export interface RedisCluster {
  url: string;
  /** A client of each node. */
  clients: Redis[];
  /** Kills a node and starts it anew, empty and with its slots. */
  restart(node: number): Promise<void>;
  stop(): Promise<void>;
}

const nodes = 3;

// the nodes talk to each other on their port + 10,000
async function nodePort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 55_000) return port;
  }
}

/** Three masters without replicas or persistence; undefined where there is no redis-server and redis-cli. */
export async function startRedisCluster(dir: string): Promise<RedisCluster | undefined> {
  const ports: number[] = [];
  while (ports.length < nodes) ports.push(await nodePort());
  const children: ChildProcess[] = [];
  const gone: Promise<void>[] = [];
  const start = async (node: number): Promise<boolean> => {
    const own = path.join(dir, `node-${node}`);
    await mkdir(own, { recursive: true });
    const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--save', '', '--appendonly', 'no'];
    const where = ['--port', String(ports[node]), '--bind', '127.0.0.1', '--dir', own];
    const child = spawn('redis-server', [...where, ...settings], { stdio: 'ignore' });
    children[node] = child;
    gone[node] = new Promise((resolve) => child.once('exit', () => resolve()));
    return new Promise((resolve) => {
      child.once('error', () => resolve(false)).once('spawn', () => resolve(true));
    });
  };
  if (!(await start(0))) return undefined;
  for (let node = 1; node < nodes; node++) await start(node);
  const clients = ports.map((port) => new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null }));
  for (const client of clients) client.on('error', () => {});
  for (const client of clients) await client.ping();
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  const whole = () =>
    until('the cluster is whole', async () => {
      const told = await Promise.all(clients.map((client) => client.cluster('INFO') as Promise<string>));
      return told.every((info) => info.includes('cluster_state:ok'));
    });
  await whole();
  return {
    url: `redis+cluster://${addresses.slice(0, 2).join(',')}`,
    clients,
    async restart(node) {
      children[node]!.kill('SIGKILL');
      await gone[node];
      await start(node);
      await whole();
    },
    async stop() {
      for (const client of clients) client.disconnect();
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(gone);
    },
  };
}
