import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { LanefoldError } from '../../base/errors.ts';
import type { RunningWorker } from '../../worker/process/options.ts';

export interface HealthServer {
  readonly port: number;
  close(): void;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

const json = (status: number, body: object): Answer => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(body)}\n`,
});

/**
 * Serves `/livez`, `/readyz` and `/metrics` of a worker on every interface, because probes come from outside the
 * container. `/livez` stays 200 while the worker stops: a supervisor must not kill it before it has released its
 * runs.
 *
 * @throws LanefoldError `port_taken`, `listen_failed`
 */
export async function serveHealth(worker: RunningWorker, port: number): Promise<HealthServer> {
  const answers: Record<string, () => Promise<Answer>> = {
    '/livez': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const { ready, reasons } = await worker.health();
      return ready ? json(200, { status: 'ok' }) : json(503, { status: 'not_ready', reasons });
    },
    '/metrics': async () => ({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: await worker.metrics(),
    }),
  };
  const server = http.createServer((request, response) => {
    const answer =
      answers[request.url?.split('?')[0]!.replace(/\/$/, '') ?? ''] ?? (async () => json(404, { status: 'not_found' }));
    void answer().then(({ status, type, body }) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', connection: 'close' });
      response.end(body);
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
        hint: 'Set --health-port or LANEFOLD_HEALTH_PORT to 1024 to 65535.',
        cause: error,
      });
