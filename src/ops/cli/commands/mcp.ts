import { Console } from 'node:console';
import { Option, type Command } from 'commander';
import type { McpServerOptions } from '../../../doors/mcp/index.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { connect } from '../connect.ts';
import { UsageError, stopSignal } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withAgents, withQueue, type ConnectionOptions } from '../options.ts';
import { note } from '../output.ts';
import { withServer } from './api.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  tool?: string[];
  waitMs?: number;
  apiKey?: string;
  http?: boolean;
  worker?: boolean;
  host?: string;
  port?: number;
}

export const addMcp = (program: Command): Command =>
  withServer(withAgents(withQueue(program.command('mcp'))))
    .option('--tool <agent...>', 'agents that become tools; default: all')
    .option('--wait-ms <n>', 'how long a call waits for its run; default 25000', wholeNumber(0, 3_600_000))
    .addOption(
      new Option('--api-key <key>', 'act with the rights of this key; default: everything').env('LANEFOLD_API_KEY'),
    )
    .option('--http', 'serve over HTTP, with the API, instead of stdin and stdout')
    .option('--worker', 'also execute runs in this process')
    .summary('serve agents to MCP clients, over stdio or HTTP')
    .description(
      'Serves MCP on stdin and stdout, for a client that starts this command: each agent is a tool. Runs are executed by ' +
        '`lanefold worker` with the same agents, or here with --worker. With --http, it serves MCP at /mcp beside the API ' +
        'under /v1. Requests to /mcp need an API key then, and --api-key does not apply.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold mcp --agents agents.ts --worker', 'lanefold mcp --agents agents.ts --http --port 4200'],
        [
          'LANEFOLD_API_KEY',
          'LANEFOLD_AGENTS',
          'LANEFOLD_HOST',
          'LANEFOLD_PORT',
          'DATABASE_URL',
          'REDIS_URL',
          'LANEFOLD_DIR',
          'LANEFOLD_TOKEN_SECRET',
          'LANEFOLD_PREPARED_STATEMENTS',
          'LANEFOLD_ROLE_CHECK',
          'LANEFOLD_QUEUE_SHARDS',
          'LANEFOLD_LOG',
          'LANEFOLD_LOG_LEVEL',
          'LANEFOLD_OTEL',
        ],
      ),
    )
    .action(async (options: Options, command: Command) => {
      const stopped = stopSignal();
      refuseUnused(command, options.http ? ['apiKey'] : ['host', 'port'], options.http);
      // a line that an agents file writes to stdout would break the protocol
      if (!options.http) globalThis.console = new Console(process.stderr, process.stderr);
      const definition = await loadAgentsFile(options.agents);
      const lanefold = await connect(options, { start: true, serves: true, ...definition });
      try {
        if (options.worker) await lanefold.startWorker();
        await (options.http ? overHttp : overStdio)(lanefold, options, stopped);
      } finally {
        await lanefold.close();
      }
    });

async function overStdio(lanefold: Lanefold, options: Options, stopped: Promise<unknown>): Promise<void> {
  const { serveMcpOverStdio } = await import('../../../doors/mcp/index.ts');
  const { apiKey } = options;
  const mcp = serveMcpOverStdio(lanefold, { ...served(options), ...(apiKey === undefined ? {} : { apiKey }) });
  await Promise.race([stopped, mcp.closed]);
  await mcp.close();
}

async function overHttp(lanefold: Lanefold, options: Options, stopped: Promise<unknown>): Promise<void> {
  const { mountMcp } = await import('../../../doors/mcp/index.ts');
  const { host, port } = options;
  const { url } = await lanefold.startServer({
    page: false,
    mcp: mountMcp(served(options)),
    ...(host ? { host } : {}),
    ...(port === undefined ? {} : { port }),
  });
  note(`MCP ${url}/mcp, API ${url}/v1`);
  note(`${await stopped}: stopping`);
}

const served = ({ tool, waitMs }: Options): McpServerOptions => ({
  ...(tool === undefined ? {} : { agents: tool }),
  ...(waitMs === undefined ? {} : { waitMs }),
});

/** Refuses options of the other transport; their environment variables may be set for other commands. */
function refuseUnused(command: Command, names: string[], http = false): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const flag = command.options.find((option) => option.attributeName() === given)!.long!;
  throw new UsageError(
    `${flag} is for ${http ? 'stdio' : '--http'}.`,
    http ? 'Over HTTP, each client sends its own key.' : 'Add --http, or leave it out.',
  );
}
