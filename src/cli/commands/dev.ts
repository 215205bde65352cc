import type { Command } from 'commander';
import { loadAgents } from '../agents-file.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withAgents, withQueue, type ConnectionOptions } from '../options.ts';
import { colours, jsonLogs, note, print } from '../output.ts';
import { stopSignal } from '../stop-signal.ts';
import { withServer } from './api.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  concurrency: number;
  host?: string;
  port?: number;
}

export const addDev = (program: Command): Command =>
  withServer(withAgents(withQueue(program.command('dev'))))
    .option('--concurrency <n>', 'maximum concurrent runs', wholeNumber(1), 20)
    .summary('everything in one process: PostgreSQL, API, worker')
    .description(
      'Starts an embedded PostgreSQL in --dir unless DATABASE_URL is set, migrates it, and runs the API and a worker in ' +
        'this process. Other commands started in the same folder connect to it.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold dev', 'lanefold dev --agents agents.ts --port 4200'],
        [
          'DATABASE_URL',
          'REDIS_URL',
          'LANEFOLD_AGENTS',
          'LANEFOLD_DIR',
          'LANEFOLD_HOST',
          'LANEFOLD_PORT',
          'LANEFOLD_API_KEY',
          'LANEFOLD_PAGE',
          'LANEFOLD_TOKEN_SECRET',
          'LANEFOLD_QUEUE_SHARDS',
          'LANEFOLD_STOP_GRACE_MS',
          'LANEFOLD_TRACE_RETENTION_DAYS',
          'LANEFOLD_PREPARED_STATEMENTS',
          'LANEFOLD_LOG',
          'LANEFOLD_LOG_LEVEL',
          'LANEFOLD_OTEL',
        ],
      ),
    )
    .action(async (options: Options) => {
      const stopped = stopSignal();
      const agents = await loadAgents(options.agents);
      const lanefold = await connect(options, { start: true, agents, migrate: true, scriptedModels: true });
      try {
        await lanefold.startWorker({
          concurrency: options.concurrency,
          onRunEnd(run) {
            if (!jsonLogs()) note(`${run.status} ${run.agent} ${run.threadId} ${run.runId} ${run.durationMs} ms`);
          },
        });
        const { host, port } = options;
        // Only the default port may be replaced by the next free one.
        const server = await lanefold.startServer({
          ...(host ? { host } : {}),
          ...(port === undefined ? { nextFreePort: true } : { port }),
        });
        const c = colours();
        print(`${c.bold('Page')}        ${server.url}/`);
        print(`${c.bold('API')}         ${server.url}/v1`);
        print(`${c.bold('Reference')}   ${server.url}/docs`);
        print(`${c.bold('Bull Board')}  ${server.url}/admin/queues`);
        print(`${c.bold('SQL')}         psql "${lanefold.databaseUrl}"`);
        print(`${c.bold('Agents')}      ${agents.map((agent) => agent.name).join(', ')}`);
        print('Ctrl-C stops it.');
        note(`${await stopped}: stopping`);
      } finally {
        await lanefold.close();
      }
    });
