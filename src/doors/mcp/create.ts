import type { McpServer } from '@modelcontextprotocol/server';
import type { Library } from '../../features/library/library.ts';
import { ownCaller } from './door.ts';
import { checkOptions, serverKeys, type McpServerOptions } from './options.ts';
import { newServer } from './server.ts';

/**
 * An MCP server of the official SDK, for a transport of your own: connect it once. It speaks the revisions that begin with
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
