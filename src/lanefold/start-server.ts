import type { Library } from '../features/library/library.ts';
import type { RunningServer, ServerOptions } from '../server/options.ts';

/**
 * Serves the HTTP API, Bull Board and the API reference in this process.
 *
 * @throws LanefoldError `missing_api_key` for a host other than loopback without a key, `port_taken`, `listen_failed`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent, startServer } from 'lanefold';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const server = await startServer(lanefold, { port: 0 });
 * console.log(`${server.url}/docs`);
 * await server.close();
 * await lanefold.close();
 * ```
 */
export async function startServer(lanefold: Library, options: ServerOptions = {}): Promise<RunningServer> {
  // Imported on demand, so that a process without an API does not load it.
  const [{ serve }, { createApp }] = await Promise.all([import('../server/server.ts'), import('../doors/app.ts')]);
  return serve(createApp, lanefold, options);
}
