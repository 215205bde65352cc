import { Option, type Command } from 'commander';
import type { ServerOptions } from '../../../server/options.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { portNumber, withAgents, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { note, printJson } from '../output.ts';
import { stopSignal } from '../errors.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  host?: string;
  port?: number;
  json?: boolean;
  mcp?: boolean;
}

export const withServer = (command: Command): Command =>
  command
    .addOption(new Option('--host <address>', 'address to listen on; default 127.0.0.1').env('LANEFOLD_HOST'))
    .addOption(new Option('--port <n>', 'port; default 4100').env('LANEFOLD_PORT').argParser(portNumber));

/** The option that serves MCP beside the API. */
export const withMcp = (command: Command): Command => command.option('--mcp', 'also serve MCP at /mcp');

/** Loads the MCP server only where it is asked for. */
export const mcpOption = async (mcp = false): Promise<Pick<ServerOptions, 'mcp'>> =>
  mcp ? { mcp: (await import('../../../doors/mcp/index.ts')).mountMcp() } : {};

export const addApi = (program: Command): Command =>
  withJson(withMcp(withServer(withAgents(withQueue(program.command('api'))))))
    .summary('serve the HTTP API, the page and Bull Board')
    .description(
      'Serves the page at /, the API under /v1, its reference at /docs and Bull Board at /admin/queues. It accepts runs but ' +
        'does not execute them: also start `lanefold worker` with the same agents. Any host other than loopback requires ' +
        'LANEFOLD_API_KEY.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold api --agents agents.ts', 'LANEFOLD_API_KEY=… lanefold api --agents agents.ts --host 0.0.0.0'],
        [
          'LANEFOLD_API_KEY',
          'LANEFOLD_WORK_SECRET',
          'LANEFOLD_PAGE',
          'LANEFOLD_TOKEN_SECRET',
          'LANEFOLD_HOST',
          'LANEFOLD_PORT',
          'LANEFOLD_AGENTS',
          'DATABASE_URL',
          'LANEFOLD_READ_URL',
          'LANEFOLD_PREPARED_STATEMENTS',
          'LANEFOLD_ROLE_CHECK',
          'LANEFOLD_PRIVATE_WEBHOOKS',
          'REDIS_URL',
          'LANEFOLD_QUEUE_SHARDS',
          'LANEFOLD_LOG',
          'LANEFOLD_LOG_LEVEL',
          'LANEFOLD_OTEL',
        ],
      ),
    )
    .action(async (options: Options) => {
      const stopped = stopSignal();
      const definition = await loadAgentsFile(options.agents);
      const lanefold = await connect(options, { start: true, serves: true, ...definition });
      try {
        const { host, port } = options;
        const server = await lanefold.startServer({
          ...(await mcpOption(options.mcp)),
          ...(host ? { host } : {}),
          ...(port === undefined ? {} : { port }),
        });
        if (options.json) printJson({ event: 'ready', url: server.url, queue: lanefold.queueBackend });
        else note(`page and API ${server.url}, reference ${server.url}/docs, Bull Board ${server.url}/admin/queues`);
        note(`${await stopped}: stopping`);
      } finally {
        await lanefold.close();
      }
    });
