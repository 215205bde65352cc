import type { Library } from '../library/library.ts';
import type { RunningServer, ServerOptions } from './options.ts';

/**
 * Serves the HTTP API, Bull Board and the API reference in this process.
 *
 * @throws LanefoldError `missing_api_key` for a host other than loopback without a key, `port_taken`, `listen_failed`
 *
 * @example
 * const server = await startServer(lanefold, { port: 4100 });
 * console.log(`${server.url}/docs`);
 */
export async function startServer(lanefold: Library, options: ServerOptions = {}): Promise<RunningServer> {
  // Imported on demand, so that a process without an API does not load it.
  const { serve } = await import('./server.ts');
  return serve(lanefold, options);
}
