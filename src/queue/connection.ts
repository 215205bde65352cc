import { Cluster } from 'ioredis';
import { LanefoldError } from '../errors.ts';
import { connectionTimeoutMillis } from '../postgres/pool.ts';
import { QuietClient } from '../postgres/quiet-client.ts';

export interface QueueConnection {
  /** For BullMQ's `connection`. */
  connection: { url: string };
  /** Once those who used it are closed: BullMQ leaves a client it was given open. */
  close(): void;
}

/**
 * What BullMQ connects with. On PostgreSQL a small pool per queue and worker; the blocking LISTEN has its own connection
 * besides. On Redis a client per queue and worker, on a cluster one for all that are not blocked.
 *
 * @throws LanefoldError `invalid_input` for a REDIS_URL that is none
 */
export function openConnection(redisUrl: string | undefined, databaseUrl: string): QueueConnection {
  const close = () => {};
  if (!redisUrl) {
    const settings = { connectionString: databaseUrl, max: 4, connectionTimeoutMillis, Client: QuietClient };
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
  // It connects anew by itself; whoever waits for it has a time limit.
  cluster.on('error', () => {});
  return { connection: cluster as never, close: () => cluster.disconnect() };
}

/**
 * Some nodes of a cluster, from which it finds the others: `redis+cluster://user:password@host:port,host:port`, or
 * `rediss+cluster:` with TLS. User and password of the first are for all. Undefined for the URL of a single server.
 */
function clusterNodes(url: string): URL[] | undefined {
  const [, scheme, rest] = /^(rediss?)\+cluster:\/\/(.*)$/.exec(url) ?? [];
  if (!scheme) return undefined;
  const nodes = rest!.split(',').map((node) => `${scheme}://${node.trim()}`);
  if (nodes.every((node) => URL.canParse(node) && new URL(node).hostname)) return nodes.map((node) => new URL(node));
  throw new LanefoldError('invalid_input', 'REDIS_URL names no nodes of a cluster that can be read.', {
    hint: 'Such as redis+cluster://:password@host1:6379,host2:6379.',
  });
}
