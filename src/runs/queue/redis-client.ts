import { Redis, type RedisOptions } from 'ioredis';

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
