import path from 'node:path';
import type { Command } from 'commander';
import { stopGrace } from '../../../base/environment.ts';
import { loadAgentsFile, namesOf } from '../agents-file.ts';
import { connect, findDatabase, psqlOf, type DatabaseHandle } from '../connect.ts';
import { givenEnvironment, commandHelp } from '../help.ts';
import { exitCodes, Exit, stopSignal } from '../errors.ts';
import { wholeNumber, withAgents, withQueue, type ConnectionOptions } from '../options.ts';
import { colours, note, print, tellsOfRuns } from '../output.ts';
import { announce, disown, disowned, portBefore, runRestarting, projectOf, watchSources } from '../watch.ts';
import { mcpOption, withMcp, withServer } from './api.ts';
import { defaultStopGraceMs } from '../../../worker/process/options.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  watch: boolean;
  concurrency: number;
  host?: string;
  port?: number;
  mcp?: boolean;
}

/** How long active runs may take to finish before a restart; afterwards the new process continues them. */
const restartGraceMs = 1_000;
/** How much longer than that a process may take to end; also the limit for one that hangs while it loads. */
const spareMs = 4_000;

export const addDev = (program: Command): Command =>
  withMcp(withServer(withAgents(withQueue(program.command('dev')))))
    .option('--concurrency <n>', 'maximum concurrent runs', wholeNumber(1), 20)
    .option('--no-watch', 'do not restart when the sources of the agents change')
    .summary('run everything in one process: PostgreSQL, API, worker')
    .description(
      'Starts an embedded PostgreSQL in --dir unless DATABASE_URL is set, migrates it, and runs the API and a worker. ' +
        'Other commands started in the same folder connect to it. With --agents, it restarts when a source file of their ' +
        'project or .env changes: runs that need more than another second continue in the new process.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold dev', 'lanefold dev --agents agents.ts --port 4200'],
        [
          'DATABASE_URL',
          'LANEFOLD_READ_URL',
          'REDIS_URL',
          'LANEFOLD_AGENTS',
          'LANEFOLD_DIR',
          'LANEFOLD_HOST',
          'LANEFOLD_PORT',
          'LANEFOLD_API_KEY',
          'LANEFOLD_WORK_SECRET',
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
    .action((options: Options) =>
      options.agents && options.watch ? watched(options, options.agents) : serve(options),
    );

/**
 * Runs everything in a child process that restarts when the agents file's project changes. The child checks the agents
 * before it starts a database; once it serves, this process keeps the database running.
 */
async function watched(options: Options, agents: string): Promise<void> {
  const stopped = stopSignal();
  let database: Promise<DatabaseHandle | undefined> | undefined;
  const keepDatabase = () => {
    // if the database has just stopped, so has the child
    database ??= findDatabase(options, { start: false }).catch(() => (database = undefined));
  };
  const watcher = watchSources(projectOf(agents), path.resolve('.env'));
  try {
    const env = givenEnvironment();
    const { stopGraceMs = defaultStopGraceMs } = stopGrace();
    const limitMs = { loading: spareMs, restart: restartGraceMs + spareMs, stop: stopGraceMs + spareMs };
    const args = [...process.argv.slice(2), '--no-watch'];
    const code = await runRestarting({ args, env, watcher, stopped, limitMs, onServe: keepDatabase });
    if (code !== exitCodes.ok) throw new Exit(code);
  } finally {
    watcher.close();
    await (await database)?.release();
  }
}

async function serve(options: Options): Promise<void> {
  const stopped = Promise.race([stopSignal(), disowned()]);
  try {
    const definition = await loadAgentsFile(options.agents);
    const lanefold = await connect(options, {
      start: true,
      serves: true,
      ...definition,
      migrate: true,
      scriptedModels: true,
    });
    try {
      const worker = await lanefold.startWorker({
        concurrency: options.concurrency,
        onRunEnd(run) {
          if (tellsOfRuns()) note(`${run.status} ${run.agent} ${run.threadId} ${run.runId} ${run.durationMs} ms`);
        },
      });
      const { host, port } = options;
      const before = portBefore();
      // Only a default port may be replaced by the next free one.
      const server = await lanefold.startServer({
        ...(await mcpOption(options.mcp)),
        ...(host ? { host } : {}),
        ...(port === undefined ? { nextFreePort: true, ...(before === undefined ? {} : { port: before }) } : { port }),
      });
      announce({ port: server.port });
      const c = colours();
      print(`${c.bold('Page')}        ${server.url}/`);
      print(`${c.bold('API')}         ${server.url}/v1`);
      if (options.mcp) print(`${c.bold('MCP')}         ${server.url}/mcp`);
      print(`${c.bold('Reference')}   ${server.url}/docs`);
      print(`${c.bold('Bull Board')}  ${server.url}/admin/queues`);
      print(`${c.bold('SQL')}         ${psqlOf(lanefold, options)}`);
      print(`${c.bold('Agents')}      ${namesOf(definition).join(', ')}`);
      print('Ctrl-C stops it.');
      const why = await stopped;
      if (why === 'restart')
        await worker.stop({ graceMs: Math.min(restartGraceMs, stopGrace().stopGraceMs ?? restartGraceMs) });
      else note(`${why}: stopping`);
    } finally {
      await lanefold.close();
    }
  } finally {
    disown();
  }
}
