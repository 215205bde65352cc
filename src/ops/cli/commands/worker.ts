import { Option, type Command } from 'commander';
import type { EndedRun } from '../../../worker/process/options.ts';
import { loadAgentsFile, namesOf } from '../agents-file.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { portNumber, wholeNumber, withAgents, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { colours, note, print, printJson, tellsOfRuns } from '../output.ts';
import { stopGrace } from '../../../base/environment.ts';
import { delay } from '../../../base/common/timer.ts';
import { timesWithin } from '../../../worker/process/work.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { serveHealth, type HealthServer } from '../health-server.ts';
import { stopSignal } from '../errors.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  concurrency: number;
  grace?: number;
  healthPort?: number;
  metricsAgent?: string[];
  unknownAgentTimeout?: number;
  untilIdle?: boolean;
  maxSeconds?: number;
  json?: boolean;
}

export const addWorker = (program: Command): Command =>
  withJson(withAgents(withQueue(program.command('worker'))))
    .option('--concurrency <n>', 'maximum number of concurrent runs', wholeNumber(1), 20)
    .addOption(
      new Option('--grace <ms>', 'time that active runs have to finish when the worker stops; default 25000')
        .env('LANEFOLD_STOP_GRACE_MS')
        .argParser(wholeNumber(0)),
    )
    .addOption(
      new Option('--health-port <n>', 'serve /livez, /readyz and /metrics on this port; 0 for a free one')
        .env('LANEFOLD_HEALTH_PORT')
        .argParser(portNumber),
    )
    .option('--metrics-agent <name...>', 'agents with their own series in /metrics; default: the first 20')
    .option(
      '--unknown-agent-timeout <ms>',
      'fail runs that no worker could execute for this long; default: they wait',
      wholeNumber(60_000),
    )
    .option('--until-idle', 'do what is due, and exit')
    .option(
      '--max-seconds <n>',
      'exit after this time at the latest; active runs have its last part to finish, --grace or half of it',
      wholeNumber(1, 86_400),
    )
    .summary('execute the runs of your agents')
    .description(
      'Executes runs until you stop it. After SIGINT or SIGTERM it accepts no new runs and gives active runs --grace ' +
        'milliseconds to finish; it then releases the rest for other workers. A second signal exits ' +
        'immediately, and another worker resumes those runs after a few seconds. Prints a line for each run that ends. ' +
        'For jobs that a scheduler starts, --until-idle exits once nothing is due: no run waits for this worker, and schedules, ' +
        'webhooks and evals have nothing to do now. Without --agents it serves the built-in assistant, as `api` and `dev` do.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold worker --agents agents.ts',
          'lanefold worker --agents agents.ts --concurrency 50 --json',
          'lanefold worker --agents agents.ts --until-idle --max-seconds 55',
        ],
        [
          'LANEFOLD_AGENTS',
          'DATABASE_URL',
          'LANEFOLD_DIRECT_URL',
          'LANEFOLD_PREPARED_STATEMENTS',
          'LANEFOLD_ROLE_CHECK',
          'LANEFOLD_PRIVATE_WEBHOOKS',
          'REDIS_URL',
          'LANEFOLD_QUEUE_SHARDS',
          'LANEFOLD_STOP_GRACE_MS',
          'LANEFOLD_HEALTH_PORT',
          'LANEFOLD_TRACE_RETENTION_DAYS',
          'LANEFOLD_LOG',
          'LANEFOLD_LOG_LEVEL',
          'LANEFOLD_OTEL',
          'LANEFOLD_DIR',
          'NO_COLOR',
        ],
      ),
    )
    .action(runWorker);

async function runWorker(options: Options): Promise<void> {
  const ends: Promise<{ signal: string } | { reason: string }>[] = [stopSignal().then((signal) => ({ signal }))];
  const { maxSeconds } = options;
  const configured = options.grace ?? stopGrace().stopGraceMs;
  const times = maxSeconds === undefined ? undefined : timesWithin(maxSeconds * 1_000, configured);
  const grace = times?.graceMs ?? options.grace;
  if (times) ends.push(delay(times.takesMs, { ref: false }).then(() => ({ reason: 'time_over' })));
  const definition = await loadAgentsFile(options.agents);
  const lanefold = await connect(options, { start: true, serves: true, ...definition });
  let released = 0;
  let probes: HealthServer | undefined;
  try {
    const worker = await lanefold.startWorker({
      concurrency: options.concurrency,
      ...(grace === undefined ? {} : { stopGraceMs: grace }),
      metrics: options.healthPort !== undefined && omitUndefined({ agents: options.metricsAgent }),
      ...(options.unknownAgentTimeout === undefined ? {} : { unknownAgentMs: options.unknownAgentTimeout }),
      ...(options.json && {
        onUnknownAgent: (agent) => {
          printJson({ event: 'unknown_agent', ...agent });
        },
      }),
      onRunEnd(run) {
        if (options.json) printJson({ event: 'run_ended', ...snakeKeys(run) });
        else if (tellsOfRuns()) print(summaryOf(run));
      },
    });
    if (options.healthPort !== undefined) probes = await serveHealth(worker, options.healthPort);
    const queue = lanefold.queueBackend;
    if (options.json)
      printJson({
        event: 'ready',
        worker_id: worker.id,
        agents: lanefold.agents.list().map(({ name }) => name),
        queue,
        ...(probes ? { health_port: probes.port } : {}),
      });
    else note(`worker ${worker.id} ready: agents ${namesOf(definition).join(', ')}, queue in ${queue}`);
    if (options.untilIdle) ends.push(worker.idle().then(() => ({ reason: 'idle' })));
    const end = await Promise.race(ends);
    if (options.json) printJson({ event: 'stopping', ...end, active: worker.active });
    else if ('signal' in end)
      note(`${end.signal}: stopping, waiting for ${worker.active} runs; repeat the signal to exit immediately`);
    else
      note(
        end.reason === 'idle' ? 'nothing is due: stopping' : `time is over: ${worker.active} runs have the rest to end`,
      );
    ({ released } = await worker.stop());
  } finally {
    await lanefold.close();
    probes?.close();
  }
  if (options.json) printJson({ event: 'stopped', released });
  else note(released > 0 ? `stopped, ${released} runs released` : 'stopped');
}

function summaryOf({ threadId, runId, agent, status, durationMs }: EndedRun): string {
  const c = colours();
  const colouredStatus = status === 'completed' ? c.green(status) : c.red(status);
  return `${new Date().toISOString()} ${colouredStatus} ${agent} ${threadId} ${runId} ${durationMs} ms`;
}
