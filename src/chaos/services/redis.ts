import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { LanefoldError } from '../../errors.ts';
import { freePort } from '../../postgres/embedded/free-port.ts';

/** A Redis of the campaign's own, without persistence. */
export interface ChaosRedis {
  port(): number;
  flush(): Promise<void>;
  /** SIGKILL and a new, empty one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

// Descriptor 3 is a pipe to this process, closed however we end; then Redis goes too.
const script = `"$@" 3<&- & P=$!; read -r end <&3; kill -KILL $P; wait $P`;

/** Starts `redis-server` from the PATH. @throws LanefoldError `queue_unreachable` where there is none */
export async function startChaosRedis(dir: string): Promise<ChaosRedis> {
  const port = await freePort();
  let kill = await launch(dir, port);
  const command = async (name: 'flushall') => {
    const client = connect(port);
    try {
      await client[name]();
    } finally {
      client.disconnect();
    }
  };
  return {
    port: () => port,
    flush: () => command('flushall'),
    async restart() {
      await kill();
      kill = await launch(dir, port);
    },
    stop: () => kill(),
  };
}

const connect = (port: number): Redis => {
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  return client;
};

async function launch(dir: string, port: number): Promise<() => Promise<void>> {
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const child = spawn('/bin/sh', ['-c', script, 'lanefold-redis', 'redis-server', ...args], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const gone = once(child, 'exit');
  const line = child.stdio[3] as NodeJS.WritableStream & { destroy(): void };
  line.on('error', () => {});
  const kill = async () => {
    line.end();
    await gone;
  };
  for (let left = 200; left > 0; left--) {
    const client = connect(port);
    const answer = await client.ping().catch(() => undefined);
    client.disconnect();
    if (answer) return kill;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await kill();
  throw new LanefoldError('queue_unreachable', 'A redis-server could not be started.', {
    hint: 'Put redis-server on the PATH, or use --queue postgres.',
  });
}
