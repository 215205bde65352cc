import { setMaxListeners } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Library } from '../features/library/library.ts';
import { LanefoldError } from '../base/errors.ts';
import { refuseUnknownKeys, type KeysOf } from '../base/checks/unknown-keys.ts';
import type { ApiApp } from './env.ts';
import { defaultBodyTimeoutMs } from './read-body.ts';
import { isLoopback } from './auth.ts';
import type { AppOptions, RunningServer, ServerOptions } from './options.ts';
import { problemHeaders, toProblem } from './problem.ts';
import { after, every } from '../base/common/timer.ts';

const defaultPort = 4100;
const portsToTry = 100;
const closePatienceMs = 2_000;
/** How long a request's headers may take to arrive. */
const headersMs = 10_000;
/**
 * How long a connection stays open between requests. Load balancers keep theirs for 60 s (AWS) to 600 s (Google), and send
 * requests into those that were just closed.
 */
const idleMs = 620_000;
/** `Last-Event-ID` of the stream of a tree grows with the number of runs in it: this is enough for some 3,000. */
const maxHeaderSize = 65_536;

const optionKeys: KeysOf<ServerOptions> = {
  tenant: true,
  page: true,
  mcp: true,
  maxStreams: true,
  keyRecheckMs: true,
  bodyTimeoutMs: true,
  maxHeldBytes: true,
  apiKey: true,
  workSecrets: true,
  maxBodyBytes: true,
  onError: true,
  host: true,
  port: true,
  nextFreePort: true,
};

/** Builds the application that a server serves. */
export type CreateApp = (lanefold: Library, options: AppOptions & { closing?: AbortSignal }) => ApiApp;

/** Listens; see `startServer`. */
export async function serve(
  createApp: CreateApp,
  lanefold: Library,
  options: ServerOptions = {},
): Promise<RunningServer> {
  refuseUnknownKeys('startServer', options, optionKeys);
  const host = options.host ?? (process.env['LANEFOLD_HOST'] || '127.0.0.1');
  const first = options.port ?? Number(process.env['LANEFOLD_PORT'] || defaultPort);
  if (!Number.isInteger(first) || first < 0 || first > 65_535) {
    const given = options.port ?? process.env['LANEFOLD_PORT'];
    throw new LanefoldError('invalid_input', `The port must be a whole number from 0 to 65535; got ${given}.`, {
      hint: 'Set port or LANEFOLD_PORT to a free port, or to 0 for any.',
    });
  }
  const apiKey = (options.apiKey ?? process.env['LANEFOLD_API_KEY']) || undefined;
  if (!apiKey && !isLoopback(host)) {
    throw new LanefoldError('missing_api_key', `Serving the API on ${host} requires an API key.`, {
      hint: 'Set LANEFOLD_API_KEY to a long random string, or serve on 127.0.0.1.',
    });
  }
  const closing = new AbortController();
  // Every stream adds a listener.
  setMaxListeners(0, closing.signal);
  const app = createApp(lanefold, { ...options, ...(apiKey ? { apiKey } : {}), closing: closing.signal });
  const last = options.nextFreePort && first > 0 ? Math.min(first + portsToTry, 65_535) : first;
  const bodyMs = options.bodyTimeoutMs ?? defaultBodyTimeoutMs;
  const server = await listen(() => newServer(app, bodyMs), host, first, last);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    host,
    port,
    close() {
      closing.abort();
      return close(server);
    },
  };
}

const newServer = (app: ApiApp, bodyMs: number): http.Server => {
  const refuse = () => {
    const problem = toProblem(
      new LanefoldError('invalid_request', 'The request line or the Host header is malformed.'),
    );
    return new Response(JSON.stringify(problem), { status: problem.status, headers: problemHeaders(problem.status) });
  };
  // Only called if the bytes do not form a Request; the application handles its own errors.
  // Node's own limits are the last resort: they bypass the application and its problem responses.
  const limits = {
    maxHeaderSize,
    headersTimeout: headersMs,
    requestTimeout: headersMs + bodyMs + closePatienceMs,
    keepAliveTimeout: idleMs,
  };
  return http.createServer(limits, getRequestListener(app.fetch, { errorHandler: refuse }));
};

async function listen(create: () => http.Server, host: string, first: number, last: number): Promise<http.Server> {
  for (let port = first; ; port++) {
    const server = create();
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      });
      return server;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' && port < last) continue;
      throw code === 'EADDRINUSE'
        ? new LanefoldError('port_taken', `Port ${port} on ${host} is already in use.`, {
            hint: 'Stop the process that uses it, or choose another port with LANEFOLD_PORT or --port.',
            details: { host, port },
            cause: error,
          })
        : new LanefoldError('listen_failed', `Cannot listen on ${host}:${port}: ${message}.`, {
            hint: 'Set LANEFOLD_HOST or --host to an address of this machine, and LANEFOLD_PORT or --port to a number from 1024 to 65535.',
            cause: error,
          });
    }
  }
}

async function close(server: http.Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = after(closePatienceMs, () => server.closeAllConnections());
  server.closeIdleConnections();
  // Clients keep a connection open after its response, so keep closing those that have become idle.
  const idle = every(20, () => server.closeIdleConnections());
  await closed;
  timer.cancel();
  idle.cancel();
}
