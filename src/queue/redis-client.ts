import { Redis, type RedisOptions } from 'ioredis';

/**
 * A client whose time limit for silence ends with its connection. ioredis leaves the timer of `socketTimeout` running when
 * a connection closes with a command unanswered, as a blocked worker's does: the process could not exit before it, and the
 * next connection would have no limit until then.
 */
export class RedisClient extends Redis {
  constructor(url: string | undefined, options: RedisOptions) {
    // ioredis passes over what is undefined
    super(url as string, options);
    this.on('close', () => {
      clearTimeout(this['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
      this['socketTimeoutTimer'] = undefined;
    });
    // it reconnects by itself; callers have their own time limits
    this.on('error', () => {});
  }

  /**
   * Between two attempts to connect, ioredis gives up the next one without ever saying that it has ended, which BullMQ waits
   * for: a worker that stops then would never have stopped.
   */
  override disconnect(reconnect = false): void {
    const isBetween = this.status === 'reconnecting';
    super.disconnect(reconnect);
    if (!isBetween || reconnect) return;
    this['setStatus']('end');
    this['flushQueue'](new Error('Connection is closed.'));
  }

  /** With commands left that wait for a connection, ioredis would wait for one as well, however long Redis is down. */
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
