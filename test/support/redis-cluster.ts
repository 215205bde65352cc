import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { startRedis, type RedisServer } from '../../src/ops/chaos/services/redis.ts';
import { freePort } from '../../src/database/postgres/embedded/launch.ts';
import { until } from './until.ts';

export interface RedisCluster {
  url: string;
  /** One client per node. */
  clients: Redis[];
  /** Kills a node and restarts it empty, with its slots. */
  restart(node: number): Promise<void>;
  stop(): Promise<void>;
}

const size = 3;
const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];

// nodes talk to each other on their port + 10,000
async function nodePort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 55_000) return port;
  }
}

/** Starts three masters without replicas or persistence; undefined without redis-server. Also needs redis-cli. */
export async function startRedisCluster(dir: string): Promise<RedisCluster | undefined> {
  const nodes: RedisServer[] = [];
  while (nodes.length < size) {
    const nodeDir = path.join(dir, `node-${nodes.length}`);
    await mkdir(nodeDir, { recursive: true });
    const node = await startRedis(nodeDir, { port: await nodePort(), args: settings });
    if (!node) return undefined;
    nodes.push(node);
  }
  const clients = nodes.map(({ port }) => new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null }));
  for (const client of clients) client.on('error', () => {});
  for (const client of clients) await client.ping();
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  const isComplete = () =>
    until('every node reports a complete cluster', async () => {
      const infos = await Promise.all(clients.map((client) => client.cluster('INFO') as Promise<string>));
      return infos.every((info) => info.includes('cluster_state:ok'));
    });
  await isComplete();
  return {
    url: `redis+cluster://${addresses.slice(0, 2).join(',')}`,
    clients,
    async restart(node) {
      await nodes[node]!.restart();
      await isComplete();
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
