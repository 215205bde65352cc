import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import type { Library } from '../../features/library/library.ts';
import { ownCaller } from './door.ts';
import { checkOptions, serverKeys, type McpServerOptions } from './options.ts';
import { newServer } from './server.ts';

/** The streams of the client, for a server that is not on stdin and stdout. */
export interface McpStreams {
  input: Readable;
  output: Writable;
}

export interface RunningMcp {
  /** Resolves when the connection has ended: the client left, sent a message of more than 10 MiB, or `close` was called. */
  readonly closed: Promise<void>;
  /** Ends the connection; runs go on. */
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
