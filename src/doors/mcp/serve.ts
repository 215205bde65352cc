import { McpServer, createMcpHandler as createSdkHandler } from '@modelcontextprotocol/server';
import { packageVersion } from '../../base/environment.ts';
import { databaseOf } from '../../features/library/internals.ts';
import type { Library } from '../../features/library/library.ts';
import { idsOf } from '../../database/store/tenant/tenant-settings.ts';
import { apiOf, type McpContext } from './api.ts';
import {
  type Caller,
  type CheckedOptions,
  ownCaller,
  checkOptions,
  serverKeys,
  type McpServerOptions,
  callerAt,
  newSecret,
  handlerKeys,
  mcpKeys,
  type McpHandlerOptions,
  type McpOptions,
} from './options.ts';
import { addResources } from './resources.ts';
import { addTasks } from './tasks.ts';
import { addTools } from './own-tools.ts';
import type { McpMount, McpSurroundings, MountedMcp } from '../../server/options.ts';
import { createApp } from '../app.ts';
import { asLine } from '../../base/common/json.ts';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';

const instructions =
  'Each agent is a tool. A call starts a durable run: it continues if you stop waiting, and lanefold_run_result returns its ' +
  'answer later. Pass thread_id to continue a conversation, and your own request_id to retry without a second run.';

/**
 * One MCP server: for a connection, or for a single HTTP request.
 *
 * @param era `modern`: revision 2026-07-28 and later, which has tasks; `legacy`: those before
 * @param hold takes the bytes of an answer from a budget; default: answers are not counted
 */
function newServer(
  lanefold: Library,
  caller: Caller,
  { agents: names, waitMs }: CheckedOptions,
  era: 'modern' | 'legacy',
  hold?: (bytes: number) => void,
): McpServer {
  const server = new McpServer({ name: 'lanefold', title: 'Lanefold', version: packageVersion() }, { instructions });
  const agents = lanefold.agents.list().filter(({ name }) => names?.includes(name) ?? true);
  const ids = () => idsOf(databaseOf(lanefold, 'An MCP server'));
  const mcp: McpContext = { server, api: apiOf(caller), ids, agents, onlyAgents: names, waitMs, hold };
  addTools(mcp);
  addResources(mcp);
  if (era === 'modern') addTasks(mcp);
  return server;
}

/**
 * An MCP server of the official SDK, for your own transport: connect it once. It speaks the revisions that begin with
 * `initialize`; the entry points for HTTP and stdio also speak 2026-07-28.
 *
 * @throws LanefoldError `invalid_input`, `unknown_agent`
 *
 * @example
 * ```ts
 * import { InMemoryTransport } from '@modelcontextprotocol/server';
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { createMcpServer } from 'lanefold/mcp';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
 * const server = createMcpServer(lanefold, { agents: ['echo'] });
 * await server.connect(serverSide);
 * console.log(clientSide.sessionId);
 * await server.close();
 * await lanefold.close();
 * ```
 */
export function createMcpServer(lanefold: Library, options: McpServerOptions = {}): McpServer {
  const checked = checkOptions('createMcpServer', options, serverKeys, lanefold);
  return newServer(lanefold, ownCaller(lanefold, options.apiKey), checked, 'legacy');
}

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

/** The streams of the client, for a server that is not on stdin and stdout. */
export interface McpStreams {
  input: Readable;
  output: Writable;
}

export interface RunningMcp {
  /** Resolves when the connection has ended: the client left, sent a message of more than 10 MiB, or `close` was called. */
  readonly closed: Promise<void>;
  /** Ends the connection; runs continue. */
  close(): Promise<void>;
}

/**
 * Serves MCP on stdin and stdout, for a client that has started this process. Write nothing else to stdout.
 *
 * @throws LanefoldError `invalid_input`, `unknown_agent`
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { serveMcpOverStdio } from 'lanefold/mcp';
 *
 * const lanefold = await createLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
 * const mcp = serveMcpOverStdio(lanefold, { agents: ['echo'] });
 * await mcp.closed;
 * await lanefold.close();
 * ```
 */
export function serveMcpOverStdio(
  lanefold: Library,
  options: McpServerOptions = {},
  { input, output }: McpStreams = { input: process.stdin, output: process.stdout },
): RunningMcp {
  const checked = checkOptions('serveMcpOverStdio', options, serverKeys, lanefold);
  const caller = ownCaller(lanefold, options.apiKey);
  const transport = new WatchedTransport(input, output);
  const { close } = serveStdio(({ era }) => newServer(lanefold, caller, checked, era), {
    transport,
    onerror: (error) => lanefold.log.error({ err: error }, 'mcp: a message could not be served'),
  });
  return { close, closed: transport.closed };
}

/** Says when it has closed, which `serveStdio` keeps to itself. */
class WatchedTransport extends StdioServerTransport {
  #ended = () => {};
  readonly closed = new Promise<void>((resolve) => (this.#ended = resolve));

  override async close(): Promise<void> {
    await super.close();
    this.#ended();
  }
}
