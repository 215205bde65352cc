import { createMcpHandler as createSdkHandler } from '@modelcontextprotocol/server';
import type { McpMount, McpSurroundings, MountedMcp } from '../../server/options.ts';
import { createApp } from '../app.ts';
import { asLine } from '../../base/common/json.ts';
import type { Library } from '../../features/library/library.ts';
import { callerAt, newSecret } from './door.ts';
import {
  checkOptions,
  handlerKeys,
  mcpKeys,
  type CheckedOptions,
  type McpHandlerOptions,
  type McpOptions,
} from './options.ts';
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
  (lanefold, surroundings) =>
    mount(lanefold, surroundings, checkOptions('mountMcp', options, mcpKeys, lanefold));

function mount(lanefold: Library, surroundings: McpSurroundings, checked: CheckedOptions): MountedMcp {
  const { door, hold, onError } = surroundings;
  // one for each request: nothing is kept between requests, so any process can answer the next one
  const handler = createSdkHandler(
    ({ era, requestInfo }) =>
      newServer(lanefold, callerAt(lanefold, door, credentialOf(requestInfo)), checked, era, hold),
    { onerror: onError },
  );
  return {
    fetch: async (request, parsedBody) => withLines(await handler.fetch(request, { parsedBody })),
    close: () => handler.close(),
  };
}

/** The response with the data of its events on lines that every reader takes for one. */
function withLines(response: Response): Response {
  if (!response.body || !response.headers.get('content-type')?.includes('text/event-stream')) return response;
  const escaping = new TransformStream<string, string>({ transform: (text, to) => to.enqueue(asLine(text)) });
  const text = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  return new Response(text.pipeThrough(escaping).pipeThrough(new TextEncoderStream()), response);
}

/** A route handler for any framework that uses the web's `Request` and `Response`. */
export type McpHandler = (request: Request) => Promise<Response>;

/**
 * A route that serves MCP in your own HTTP server, wherever you mount it. Each request needs a key or token of
 * `lanefold.keys`, or `LANEFOLD_API_KEY` if that is set.
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
export function createMcpHandler(lanefold: Library, options: McpHandlerOptions = {}): McpHandler {
  const checked = checkOptions('createMcpHandler', options, handlerKeys, lanefold);
  const app = createApp(lanefold, {
    page: false,
    mcp: (...given) => mount(...given, checked),
    // a server that has a key, even one that is not known, answers no request without one
    ...(options.requireKey === false ? {} : { apiKey: process.env['LANEFOLD_API_KEY'] || newSecret() }),
  });
  return async (request) => app.fetch(new Request(new URL('/mcp', request.url), request));
}

function credentialOf(request: Request | undefined): string | undefined {
  const [scheme = '', value] = (request?.headers.get('authorization') ?? '').split(' ', 2);
  return scheme.toLowerCase() === 'bearer' ? value : undefined;
}
