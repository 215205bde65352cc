import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { Redis } from 'ioredis';
import { freePort } from '../../../database/postgres/embedded/launch.ts';

/** A Redis server without persistence that ends with this process. */
export interface RedisServer {
  url: string;
  port: number;
  flush(): Promise<void>;
  /** Kills the server with SIGKILL and starts an empty one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Default: any free port. */
  port?: number;
  /** More arguments of `redis-server`. */
  args?: readonly string[];
}

/** Starts `redis-server` from the PATH; undefined if it does not start. */
export async function startRedis(
  dir: string,
  { port: wanted, args = [] }: RedisServerOptions = {},
): Promise<RedisServer | undefined> {
  const port = wanted ?? (await freePort());
  const settings = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dir,
    ...args,
  ];
  let kill = await launch(settings);
  if (!kill) return undefined;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    async flush() {
      const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => null, maxRetriesPerRequest: 0 });
      client.on('error', () => {});
      try {
        await client.flushall();
      } finally {
        client.disconnect();
      }
    },
    async restart() {
      await kill?.();
      kill = await launch(settings);
      if (!kill) throw new Error(`redis-server did not restart on port ${port}`);
    },
    stop: async () => kill?.(),
  };
}

// Descriptor 3 is a pipe to this process. The system closes it however this process ends, and then the shell kills
// Redis. The shell keeps no copy of stdout, so that stdout ends with Redis.
const script = `"$@" 3<&- & P=$!; exec >&-; read -r end <&3; kill -KILL $P; wait $P`;

/** Resolves with a function that kills the server, or with undefined if the server ended before it was ready. */
async function launch(settings: readonly string[]): Promise<(() => Promise<void>) | undefined> {
  const child = spawn('/bin/sh', ['-c', script, 'lanefold-redis', 'redis-server', ...settings], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const lifeline = child.stdio[3] as Writable;
  lifeline.on('error', () => {});
  const kill = async () => {
    lifeline.end();
    await exited;
  };
  if (await isReady(child.stdout!)) return kill;
  await kill();
  return undefined;
}

/** Waits for the log line of a ready server; false if the output ends first. Keeps draining the output afterwards. */
async function isReady(stdout: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    let log = '';
    stdout.on('data', (text: Buffer) => {
      if (log.length < 100_000) log += text.toString();
      if (log.includes('Ready to accept connections')) resolve(true);
    });
    stdout.once('end', () => resolve(false));
  });
}
