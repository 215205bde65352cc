import { spawn, type ChildProcess } from 'node:child_process';
import net from 'node:net';

/** A Redis without persistence on a free port; undefined where there is no redis-server on the PATH. */
export async function startRedis(dir: string): Promise<{ url: string; process: ChildProcess } | undefined> {
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const started = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', () => resolve(false));
    child.stdout!.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve(true);
    });
  });
  // the parent's death must not leave a server behind, and its life must not depend on this pipe
  child.stdout?.resume();
  return started ? { url: `redis://127.0.0.1:${port}`, process: child } : undefined;
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
