import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { LanefoldError } from '../errors.ts';
import type { RunningWorker } from '../runtime/worker/options.ts';

export interface HealthServer {
  readonly port: number;
  close(): void;
}

/**
 * Serves `/livez` and `/readyz` of a worker on every interface, because probes come from outside the container. `/livez`
 * stays 200 while the worker stops: a supervisor must not kill it before it has handed its runs over.
 *
 * @throws LanefoldError `port_taken`, `listen_failed`
 */
export async function serveHealth(worker: RunningWorker, port: number): Promise<HealthServer> {
  const answers: Record<string, () => Promise<[status: number, body: object]>> = {
    '/livez': async () => [200, { status: 'ok' }],
    '/readyz': async () => {
      const { ready, reasons } = await worker.health();
      return ready ? [200, { status: 'ok' }] : [503, { status: 'not_ready', reasons }];
    },
  };
  const server = http.createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''] ?? (async () => [404, { status: 'not_found' }] as const);
    void answer().then(([status, body]) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        connection: 'close',
      });
      response.end(`${JSON.stringify(body)}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(port, error)));
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const cannotListen = (port: number, error: NodeJS.ErrnoException): LanefoldError =>
  error.code === 'EADDRINUSE'
    ? new LanefoldError('port_taken', `Port ${port} is already in use.`, {
        hint: 'Choose another with --health-port or LANEFOLD_HEALTH_PORT.',
        cause: error,
      })
    : new LanefoldError('listen_failed', `Cannot listen on port ${port}: ${error.message}.`, {
        hint: 'Use a port from 1024 to 65535.',
        cause: error,
      });
