import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { processClock, within, type Clock } from '../../base/common/timer.ts';
import { LanefoldError } from '../../base/errors.ts';
import { connectionTimeoutMillis } from '../../database/postgres/pool.ts';
import { silenceMs, watchedClient } from '../../database/postgres/watched-client.ts';
import { GatheringPool } from './gathering-pool.ts';
import { networkErrorCodes } from '../../base/common/network.ts';

interface QueueConnections {
  /**
   * The value for BullMQ's `connection`: call it for each queue, worker and relay. `listens`: false for a plain queue.
   */
  open(listens: boolean): { url: string };
  /** Call once the queues and workers are closed: BullMQ does not close connections it was given. */
  close(): Promise<void>;
}

/** PostgreSQL connections per queue or worker, besides the listening one. */
const poolSize = 4;
/**
 * The rows of runs are the outbox, so a crash of the server may lose the last changes of jobs, and they need not wait for
 * the disk. A plan made while the table of jobs was small stays good as it grows.
 */
const queueSettings = [
  'synchronous_commit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
];
const maxRetryMs = 2_000;
const closePatienceMs = 2_000;

/**
 * The connections of BullMQ. On PostgreSQL: a small pool per queue and worker, plus one connection for the blocking
 * LISTEN. On Redis: a client per queue and worker. On a Redis Cluster: one shared client for everything that does not
 * block. BullMQ waits for answers without a limit, so a connection that receives nothing for `limitMs` is broken here
 * and replaced.
 *
 * @throws LanefoldError `invalid_input` for an unreadable REDIS_URL
 */
export function openConnections(
  redisUrl: string | undefined,
  databaseUrl: string,
  { limitMs = silenceMs, clock = processClock }: { limitMs?: number; clock?: Clock } = {},
): QueueConnections {
  if (!redisUrl) return poolsOf(databaseUrl, limitMs, clock);
  const settings = {
    maxRetriesPerRequest: null,
    // Longer than BullMQ blocks, which is two thirds of this at most.
    socketTimeout: limitMs,
    keepAlive: limitMs,
  };
  const nodes = clusterNodes(redisUrl);
  if (!nodes) {
    // BullMQ's own pauses reach 20 s
    const retryStrategy = (times: number) => Math.min(times * 100, maxRetryMs);
    const clients: RedisClient[] = [];
    return {
      open() {
        const client = new RedisClient(redisUrl, { ...settings, retryStrategy });
        clients.push(client);
        return client as never;
      },
      close: async () => clients.forEach((client) => client.disconnect()),
    };
  }
  const [{ username, password, protocol }] = nodes as [URL, ...URL[]];
  const cluster = new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) })),
    {
      redisOptions: {
        ...settings,
        ...(username ? { username: decodeURIComponent(username) } : {}),
        ...(password ? { password: decodeURIComponent(password) } : {}),
        ...(protocol === 'rediss:' ? { tls: {} } : {}),
      },
    },
  );
  // It reconnects by itself; callers have their own time limits.
  cluster.on('error', () => {});
  return { open: () => cluster as never, close: async () => cluster.disconnect() };
}

function poolsOf(connectionString: string, limitMs: number, clock: Clock): QueueConnections {
  const pools: GatheringPool[] = [];
  return {
    open(listens) {
      const pool = new GatheringPool(
        {
          Client: watchedClient(limitMs),
          connectionString,
          max: poolSize + (listens ? 1 : 0),
          connectionTimeoutMillis,
          query_timeout: limitMs,
          keepAlive: true,
          // the search path, as BullMQ sets it on pools that it creates
          options: [...queueSettings, 'search_path="bullmq"'].map((setting) => `-c ${setting}`).join(' '),
        },
        clock,
      );
      pool.on('error', () => {});
      pools.push(pool);
      return pool as never;
    },
    async close() {
      const ended = Promise.all(pools.splice(0).map((pool) => pool.end()));
      await within(closePatienceMs, ended).catch(() => {});
    },
  };
}

/**
 * The seed nodes of a cluster URL: `redis+cluster://user:password@host:port,host:port`, or `rediss+cluster:` for TLS.
 * The first node's user and password apply to all. Undefined for the URL of a single server.
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

/** Rewrites the error for people if BullMQ lost its server; returns any other error unchanged. */
export function outage(backend: string, error: Error): Error {
  const { code = '' } = error as { code?: string };
  const isOutage =
    networkErrorCodes.has(code) ||
    /Connection is closed|Socket timeout|terminated|no answer within/.test(error.message);
  if (!isOutage) return error;
  // with PostgreSQL, the whole database is gone, not just the queue
  return backend === 'redis' ? unreachable(backend, error) : databaseLost(error);
}

export const databaseLost = (cause: unknown): LanefoldError =>
  new LanefoldError('database_unreachable', `PostgreSQL cannot be reached: ${reasonOf(cause)}.`, {
    hint: 'Check that PostgreSQL runs.',
    cause,
  });

function reasonOf(cause: unknown): string {
  const { message, errors } = cause as { message?: string; errors?: Error[] };
  // Node tries every address of a host, and its summary of these errors is empty
  return message || errors?.map((error) => error.message).join('; ') || String(cause);
}

export function unreachable(backend: string, cause: unknown): LanefoldError {
  const reason = reasonOf(cause);
  return backend === 'redis'
    ? new LanefoldError('queue_unreachable', `Redis cannot be reached: ${reason}.`, {
        hint: 'Check REDIS_URL and that the server runs; unset REDIS_URL to keep the queue in PostgreSQL.',
        cause,
      })
    : new LanefoldError('queue_unreachable', `The queue in PostgreSQL cannot be used: ${reason}.`, {
        hint: 'Check that PostgreSQL runs; run `lanefold migrate`; behind PgBouncer set LANEFOLD_DIRECT_URL.',
        cause,
      });
}

/**
 * A client whose limit for silence ends with its connection. When a connection closes with a command unanswered, as a
 * blocked worker's does, ioredis leaves the `socketTimeout` timer running: the process could not exit before it fires,
 * and the next connection would have no limit until then.
 */
export class RedisClient extends Redis {
  constructor(url: string | undefined, options: RedisOptions) {
    // ioredis ignores an undefined URL
    super(url as string, options);
    this.on('close', () => {
      clearTimeout(this['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
      this['socketTimeoutTimer'] = undefined;
    });
    // it reconnects by itself; callers have their own time limits
    this.on('error', () => {});
  }

  /**
   * Between two connection attempts, ioredis cancels the next one without emitting `end`, which BullMQ waits for: a
   * worker that stops then would never finish stopping.
   */
  override disconnect(reconnect = false): void {
    const isBetween = this.status === 'reconnecting';
    super.disconnect(reconnect);
    if (!isBetween || reconnect) return;
    this['setStatus']('end');
    this['flushQueue'](new Error('Connection is closed.'));
  }

  /** While commands wait for a connection, ioredis would wait too, however long Redis is down. */
  override async quit(): Promise<'OK'> {
    if (this.status === 'ready') return super.quit();
    this.disconnect();
    return 'OK';
  }

  /** BullMQ's blocking connections are duplicates. */
  override duplicate(override: Partial<RedisOptions> = {}): RedisClient {
    return new RedisClient(undefined, { ...this.options, ...override });
  }
}

/**
 * CPU time that the Redis server at `url` has used so far, in milliseconds; undefined for a cluster, each of whose nodes
 * counts only its own, and for a server that does not tell.
 */
export async function redisCpuMs(url: string): Promise<number | undefined> {
  if (/^rediss?\+cluster:/.test(url)) return undefined;
  const client = new RedisClient(url, { maxRetriesPerRequest: 1 });
  try {
    const info = await client.info('cpu');
    const facts = new Map(info.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
    const ms = (Number(facts.get('used_cpu_sys')) + Number(facts.get('used_cpu_user'))) * 1_000;
    return Number.isFinite(ms) ? ms : undefined;
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
