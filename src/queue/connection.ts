import { Cluster } from 'ioredis';
import { LanefoldError } from '../errors.ts';
import { connectionTimeoutMillis } from '../postgres/pool.ts';
import { PreparingClient } from '../postgres/preparing-client.ts';

export interface QueueConnection {
  /** For BullMQ's `connection`. */
  connection: { url: string };
  /** Call once the queues and workers are closed: BullMQ leaves a client it was given open. */
  close(): void;
}

/**
 * The connection options for BullMQ. On PostgreSQL: a small pool per queue and worker, plus one connection for the
 * blocking LISTEN. On Redis: a client per queue and worker. On a Redis Cluster: one shared client for everything that
 * does not block.
 *
 * @throws LanefoldError `invalid_input` for an unreadable REDIS_URL
 */
export function openConnection(redisUrl: string | undefined, databaseUrl: string): QueueConnection {
  const close = () => {};
  if (!redisUrl) {
    const settings = { connectionString: databaseUrl, max: 4, connectionTimeoutMillis, Client: PreparingClient };
    return { connection: settings as never, close };
  }
  const nodes = clusterNodes(redisUrl);
  if (!nodes) return { connection: { url: redisUrl, maxRetriesPerRequest: null } as never, close };
  const [{ username, password, protocol }] = nodes as [URL, ...URL[]];
  const cluster = new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) })),
    {
      redisOptions: {
        maxRetriesPerRequest: null,
        ...(username ? { username: decodeURIComponent(username) } : {}),
        ...(password ? { password: decodeURIComponent(password) } : {}),
        ...(protocol === 'rediss:' ? { tls: {} } : {}),
      },
    },
  );
  // It reconnects by itself; callers have their own time limits.
  cluster.on('error', () => {});
  return { connection: cluster as never, close: () => cluster.disconnect() };
}

/**
 * The seed nodes of a cluster URL: `redis+cluster://user:password@host:port,host:port`, or `rediss+cluster:` for TLS. The
 * first node's user and password apply to all. Undefined for the URL of a single server.
 */
function clusterNodes(url: string): URL[] | undefined {
  const [, scheme, rest] = /^(rediss?)\+cluster:\/\/(.*)$/.exec(url) ?? [];
  if (!scheme) return undefined;
  const nodes = rest!.split(',').map((node) => `${scheme}://${node.trim()}`);
  if (nodes.every((node) => URL.canParse(node) && new URL(node).hostname)) return nodes.map((node) => new URL(node));
  throw new LanefoldError('invalid_input', 'REDIS_URL is not a valid cluster URL.', {
    hint: 'Use the form redis+cluster://:password@host1:6379,host2:6379.',
  });
}
