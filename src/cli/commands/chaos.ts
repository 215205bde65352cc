import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { CampaignOptions } from '../../chaos/campaign.ts';
import type { HistoryFile } from '../../chaos/recording/conclude.ts';
import { scaled } from '../../chaos/intervals.ts';
import { reportRows, type CampaignReport } from '../../chaos/report.ts';
import { faultKinds, kindsFor, type FaultKind } from '../../chaos/schedule.ts';
import { table } from '../demo/table.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson } from '../options.ts';
import { createProgress, note, print, printJson } from '../output.ts';
import { stopSignal } from '../stop-signal.ts';

interface Options {
  queue: 'postgres' | 'redis' | 'both';
  scenarios: number;
  seed: number;
  workers: number;
  concurrency: number;
  timeLimit: number;
  faults: FaultKind[];
  scale: number;
  agents?: string;
  agent?: string;
  input?: string;
  report?: string;
  history?: string;
  historyFormat: HistoryFile['format'];
  json?: boolean;
}

export const addChaos = (program: Command): Command =>
  withJson(program.command('chaos'))
    .addOption(
      new Option('--queue <where>', 'queue backend of the workers')
        .choices(['postgres', 'redis', 'both'])
        .default('both'),
    )
    .option('--scenarios <n>', 'number of faults that must hit a run, across all campaigns', wholeNumber(1), 50)
    .option('--seed <n>', 'seed of the fault schedule and the workload', wholeNumber(0), 1)
    .option('--workers <n>', 'worker processes', wholeNumber(1), 4)
    .option('--concurrency <n>', 'concurrent conversations', wholeNumber(1), 16)
    .option('--time-limit <seconds>', 'stop injecting faults after this time, per campaign', wholeNumber(1), 3_600)
    .option('--faults <list>', `comma-separated subset of ${faultKinds.join(',')}`, parseFaults, faultKinds)
    .option('--scale <factor>', 'factor for leases and sweep intervals; 1 uses the defaults', parseScale, 0.2)
    .option('--agents <file>', 'module with your agents, instead of the built-in one')
    .option('--agent <name>', 'the agent to run; default: the first')
    .option('--input <text>', 'input of each run')
    .option('--report <file>', 'file for the report if there are violations (default lanefold-chaos-<seed>.json)')
    .option('--history <file>', 'file for the history of all calls of clients and workers')
    .addOption(
      new Option('--history-format <format>', 'JSON Lines, or the appends and reads as elle-cli reads them')
        .choices(['jsonl', 'elle'])
        .default('jsonl'),
    )
    .summary('kill, freeze and disconnect workers, and check that nothing is lost')
    .description(
      'Runs agents in worker processes and injects faults: SIGKILL (kill), SIGSTOP for longer than a lease (stop), connections ' +
        'that go silent and are then reset (cut), exhausted connections (pool), an immediate shutdown of PostgreSQL (postgres), ' +
        'the permanent loss of a primary, whose synchronous standby takes over (failover), a killed Redis (redis), and a queue ' +
        'that loses all data (flush). It then waits until all runs have ended and checks every invariant in the database, and the history: what clients and workers asked and were told. ' +
        'A scenario is one injected fault that hit at least one active run; faults that hit none are not counted. The seed determines the order and duration of the faults and what the runs do; which runs a fault ' +
        'hits depends on timing.\n\n' +
        'The command starts its own servers in a temporary folder and removes them afterwards; it ignores DATABASE_URL and ' +
        'REDIS_URL. If an invariant is violated, it exits with 1, writes the affected ids to the report and keeps the folder. ' +
        'Your own agents call their real models and tools: use scripted ones unless you want that.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold chaos',
          'lanefold chaos --scenarios 2000 --seed 7 --json > campaign.json',
          'lanefold chaos --queue redis --history history.jsonl',
          'lanefold chaos --queue postgres --faults kill,stop --agents agents.ts --agent support --input "Where is my order?"',
        ],
        ['NO_COLOR'],
      ),
    )
    .action(async (options: Options) => {
      const custom = await customWorkload(options);
      const { runCampaign } = await import('../../chaos/campaign.ts');
      const queues = options.queue === 'both' ? (['postgres', 'redis'] as const) : [options.queue];
      for (const queue of queues)
        if (kindsFor(queue, options.faults).length === 0)
          throw new UsageError(`None of the faults applies to the queue in ${queue}.`, 'Add kill to --faults.');
      const history = new Map<string, HistoryFile>();
      for (const queue of options.history ? queues : [])
        history.set(queue, await historyFile(options, queues.length > 1 && queue));
      const stop = new AbortController();
      void stopSignal().then(() => stop.abort());
      const progress = createProgress();
      const reports: CampaignReport[] = [];
      for (const [i, queue] of queues.entries()) {
        if (stop.signal.aborted) break;
        const campaign: CampaignOptions = {
          queue,
          seed: options.seed,
          scenarios: Math.ceil((options.scenarios - i) / queues.length),
          workers: options.workers,
          concurrency: options.concurrency,
          timeLimitMs: options.timeLimit * 1_000,
          kinds: options.faults,
          scale: options.scale,
          ...(custom ? { custom } : {}),
          ...(history.has(queue) ? { history: history.get(queue)! } : {}),
          signal: stop.signal,
          onProgress: progress.update,
        };
        try {
          reports.push(await runCampaign(campaign));
        } finally {
          progress.end();
        }
      }
      const document = {
        seed: options.seed,
        scale: options.scale,
        lease_ms: scaled(options.scale).leaseMs,
        sweep_ms: scaled(options.scale).sweepMs,
        workers: options.workers,
        concurrency: options.concurrency,
        scenarios: reports.reduce((sum, report) => sum + report.scenarios, 0),
        violations: reports.reduce((sum, report) => sum + report.violations.length, 0),
        campaigns: reports,
      };
      if (options.json) printJson(document);
      else {
        const [header, ...rows] = reportRows(reports);
        for (const line of table(header!, rows)) print(line);
      }
      for (const { queue, reached, scenarios } of reports)
        if (!reached) note(`${queue}: the campaign ended early, after ${scenarios} scenarios`);
      // Node may never exit because of pending requests on connections that the campaign broke
      const exitSoon = () => setTimeout(() => process.exit(), 100);
      if (document.violations === 0) return void exitSoon();
      const file = options.report ?? `lanefold-chaos-${options.seed}.json`;
      await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
      note(`${document.violations} violations: see ${file}`);
      for (const { violations, dir } of reports)
        if (violations.length > 0)
          note(`the database was kept; inspect it with: lanefold thread THREAD --dir ${dir}/postgres`);
      exitSoon();
      throw new Exit(exitCodes.failed);
    });

/** The file of a campaign; of several, each has its queue in the name. Finds out before they start if it can be written. */
async function historyFile({ history, historyFormat: format }: Options, queue: string | false): Promise<HistoryFile> {
  const { dir, name, ext } = path.parse(history!);
  const file = queue ? path.join(dir, `${name}-${queue}${ext}`) : history!;
  await writeFile(file, '').catch((error: unknown) => {
    throw new UsageError(
      `Could not write ${file} (${(error as Error).message}).`,
      'Pass a file in an existing folder.',
    );
  });
  return { file, format };
}

async function customWorkload({ agents: file, agent, input }: Options): Promise<CampaignOptions['custom']> {
  if (!file) {
    if (agent === undefined && input === undefined) return undefined;
    throw new UsageError('--agent and --input need your own agents.', 'Add their module: --agents agents.ts.');
  }
  const { loadAgents } = await import('../agents-file.ts');
  const agents = await loadAgents(file);
  const name = agent ?? agents[0]!.name;
  if (!agents.some((known) => known.name === name))
    throw new UsageError(`${file} has no agent ${name}.`, `It has ${agents.map((known) => known.name).join(', ')}.`);
  if (!input) throw new UsageError('Runs of your own agents need an input.', 'Add --input "…".');
  return { file, agents, agent: name, input };
}

function parseFaults(text: string): FaultKind[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !faultKinds.includes(name as FaultKind));
  if (unknown === undefined) return faultKinds.filter((kind) => names.includes(kind));
  throw new InvalidArgumentError(`Unknown fault ${JSON.stringify(unknown)}; the faults are ${faultKinds.join(', ')}.`);
}

function parseScale(text: string): number {
  const value = Number(text);
  if (value >= 0.05 && value <= 10) return value;
  throw new InvalidArgumentError('It must be a number from 0.05 to 10.');
}
