import { createMcpHandler as createSdkHandler } from '@modelcontextprotocol/server';
import type { McpMount } from '../api/options.ts';
import { createApp } from '../api/app.ts';
import type { Library } from '../library/library.ts';
import { callerAt } from './door.ts';
import { checkOptions, type McpOptions } from './options.ts';
import { newServer } from './server.ts';

/**
 * Serves MCP at `/mcp` of the HTTP API: pass it to `startServer` as `mcp`. Requests need the same keys as the API, and
 * allow what their key allows.
 *
 * @throws LanefoldError `invalid_input`, `unknown_agent`, from `startServer`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent, startServer } from 'lanefold';
 * import { mountMcp } from 'lanefold/mcp';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const server = await startServer(lanefold, { port: 0, mcp: mountMcp({ agents: ['echo'] }) });
 * console.log(`${server.url}/mcp`);
 * await server.close();
 * await lanefold.close();
 * ```
 */
export const mountMcp =
  (options: McpOptions = {}): McpMount =>
  (lanefold, { door, maxBodyBytes, onError }) => {
    const checked = checkOptions('mountMcp', options, lanefold);
    // one for each request: nothing is kept between requests, so any process can answer the next one
    return createSdkHandler(
      ({ era, requestInfo }) => newServer(lanefold, callerAt(door, credentialOf(requestInfo)), checked, era),
      { maxRequestBodySize: maxBodyBytes, onerror: onError },
    );
  };

/** A route handler for any framework that uses the web's `Request` and `Response`. */
export type McpHandler = (request: Request) => Promise<Response>;

/**
 * A route that serves MCP in your own HTTP server, wherever you mount it. Requests need an API key, as those to the HTTP
 * API do: `LANEFOLD_API_KEY`, or one of `lanefold.keys`. Without `LANEFOLD_API_KEY`, requests to a loopback host need none.
 *
 * @throws LanefoldError `invalid_input`, `unknown_agent`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { createMcpHandler } from 'lanefold/mcp';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const mcp = createMcpHandler(lanefold, { agents: ['echo'] });
 * export { mcp as GET, mcp as POST, mcp as DELETE };
 * ```
 */
export function createMcpHandler(lanefold: Library, options: McpOptions = {}): McpHandler {
  const app = createApp(lanefold, { page: false, mcp: mountMcp(options) });
  return async (request) => app.fetch(new Request(new URL('/mcp', request.url), request));
}

function credentialOf(request: Request | undefined): string | undefined {
  const [scheme = '', value] = (request?.headers.get('authorization') ?? '').split(' ', 2);
  return scheme.toLowerCase() === 'bearer' ? value : undefined;
}
