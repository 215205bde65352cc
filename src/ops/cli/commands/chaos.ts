import { InvalidArgumentError, Option, type Command } from 'commander';
import { faultKinds, kindsFor, scaled, type FaultKind } from '../../chaos/schedule.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson } from '../options.ts';
import { after } from '../../../base/common/timer.ts';
import { writeFile } from 'node:fs/promises';
import type { CampaignOptions } from '../../chaos/campaign.ts';
import { appendCampaign, openLog, planCampaigns, campaignRows, type PlannedCampaign } from '../../chaos/table.ts';
import type { HistoryFile } from '../../chaos/recording/conclude.ts';
import type { CampaignReport } from '../../chaos/report.ts';
import { table, createProgress, note, print, printJson } from '../output.ts';
import { exitCodes, UsageError, Exit, stopSignal } from '../errors.ts';
import path from 'node:path';

export const addChaos = (program: Command): Command =>
  withJson(program.command('chaos'))
    .addOption(
      new Option('--queue <where>', 'queue backend of the workers')
        .choices(['postgres', 'redis', 'both'])
        .default('both'),
    )
    .option('--scenarios <n>', 'number of faults that must hit a run, across all campaigns', wholeNumber(1), 50)
    .option('--seed <n>', 'seed of the fault schedule and the workload', wholeNumber(0), 1)
    .option(
      '--campaigns <n>',
      'campaigns for each queue, with the seeds that follow; each starts its own servers',
      wholeNumber(1),
      1,
    )
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
    .option('--log <file>', 'adds a line of JSON for each campaign, and skips those that it has')
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
        'that loses all data (flush). The runs call tools, ask other agents, people, events and times, and answer schedules; three limits refuse some of them, ' +
        'a provider gives odd answers to others, and a receiver of webhooks fails now and then. It then waits until all runs have ended and checks every invariant in the database, the logs of the provider and the receiver, and the history: what clients and workers asked and were told. ' +
        'A scenario is one injected fault that hit at least one active run; faults that hit none are not counted. The seed determines the order and duration of the faults and what the runs do; which runs a fault ' +
        'hits depends on timing.\n\n' +
        'Long campaigns are better split (`--campaigns`), and with `--log` the same command continues after an interruption. The command starts its own servers in a temporary folder and removes them afterwards; it ignores DATABASE_URL and ' +
        'REDIS_URL. If an invariant is violated, it exits with 1, writes the affected ids to the report and keeps the folder. ' +
        'Your own agents call their real models and tools: use scripted ones unless you want that.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold chaos',
          'lanefold chaos --scenarios 10000 --campaigns 10 --seed 7 --time-limit 7200 --log campaigns.jsonl',
          'lanefold chaos --queue redis --history history.jsonl',
          'lanefold chaos --queue postgres --faults kill,stop --agents agents.ts --agent support --input "Where is my order?"',
        ],
        ['NO_COLOR'],
      ),
    )
    .action(async (options: ChaosOptions) => {
      try {
        await runCampaigns(options);
      } finally {
        // Node may never exit because of pending requests on connections that the campaign broke
        after(100, () => process.exit());
      }
    });

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

export interface ChaosOptions {
  queue: 'postgres' | 'redis' | 'both';
  scenarios: number;
  seed: number;
  campaigns: number;
  workers: number;
  concurrency: number;
  timeLimit: number;
  faults: FaultKind[];
  scale: number;
  agents?: string;
  agent?: string;
  input?: string;
  report?: string;
  log?: string;
  history?: string;
  historyFormat: HistoryFile['format'];
  json?: boolean;
}

/**
 * Runs campaigns one after the other and prints what they found; throws `Exit` if an invariant was violated.
 *
 * @throws UsageError
 */
export async function runCampaigns(options: ChaosOptions): Promise<void> {
  const custom = await customWorkload(options);
  const queues = options.queue === 'both' ? (['postgres', 'redis'] as const) : [options.queue];
  for (const queue of queues)
    if (kindsFor(queue, options.faults).length === 0)
      throw new UsageError(`None of the faults applies to the queue in ${queue}.`, 'Add kill to --faults.');
  const planned = planCampaigns({ ...options, queues });
  const earlier = options.log ? await readLog(options.log) : [];
  const knownOf = ({ queue, seed }: PlannedCampaign) => earlier.find((one) => one.queue === queue && one.seed === seed);
  for (const plan of planned) assertSame(options, plan, knownOf(plan));
  const histories = await Promise.all(
    planned.map((plan) => (knownOf(plan) ? undefined : historyFile(options, planned.length > 1 && plan))),
  );
  const { runCampaign } = await import('../../chaos/campaign.ts');
  const stop = new AbortController();
  void stopSignal().then(() => stop.abort());
  const progress = createProgress();
  const reports: CampaignReport[] = [];
  for (const [i, plan] of planned.entries()) {
    const known = knownOf(plan);
    if (known) {
      reports.push(known);
      continue;
    }
    if (stop.signal.aborted) break;
    const { workers, concurrency, scale, faults: kinds, timeLimit } = options;
    const campaign: CampaignOptions = {
      ...plan,
      workers,
      concurrency,
      scale,
      kinds,
      timeLimitMs: timeLimit * 1_000,
      ...(custom && { custom }),
      ...(histories[i] && { history: histories[i] }),
      signal: stop.signal,
      onProgress: progress.update,
    };
    try {
      const report = await runCampaign(campaign);
      reports.push(report);
      // an interrupted one has to run again
      if (options.log && report.reached) await appendCampaign(options.log, report);
    } finally {
      progress.end();
    }
  }
  await tell(options, reports);
}

async function tell(options: ChaosOptions, reports: CampaignReport[]): Promise<void> {
  const document = {
    scenarios: reports.reduce((sum, report) => sum + report.scenarios, 0),
    violations: reports.reduce((sum, report) => sum + report.violations.length, 0),
    campaigns: reports,
  };
  if (options.json) printJson(document);
  else {
    const [header, ...rows] = campaignRows(reports);
    for (const line of table(header!, rows)) print(line);
  }
  for (const { queue, seed, reached, scenarios } of reports)
    if (!reached) note(`${queue}: the campaign with seed ${seed} ended early, after ${scenarios} scenarios`);
  if (document.violations === 0) return;
  const file = options.report ?? `lanefold-chaos-${options.seed}.json`;
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
  note(`${document.violations} violations: see ${file}`);
  for (const { dir } of reports)
    if (dir) note(`the database was kept; inspect it with: lanefold thread THREAD --dir ${dir}/postgres`);
  throw new Exit(exitCodes.failed);
}

async function customWorkload({ agents: file, agent, input }: ChaosOptions): Promise<CampaignOptions['custom']> {
  if (!file) {
    if (agent === undefined && input === undefined) return undefined;
    throw new UsageError('--agent and --input need your own agents.', 'Add their module: --agents agents.ts.');
  }
  const { loadAgentsFile, namesOf } = await import('../agents-file.ts');
  const definition = await loadAgentsFile(file);
  const { agents } = definition;
  const name = agent ?? agents[0]!.name;
  if (!agents.some((known) => known.name === name))
    throw new UsageError(`${file} has no agent ${name}.`, `It has ${namesOf(definition).join(', ')}.`);
  if (!input) throw new UsageError('Runs of your own agents need an input.', 'Add --input "…".');
  return { file, definition, agent: name, input };
}

/** The campaigns of a log, which later ones are added to. */
async function readLog(file: string): Promise<CampaignReport[]> {
  try {
    return await openLog(file);
  } catch (error) {
    throw new UsageError(
      `Could not use ${file} as a log of campaigns (${(error as Error).message}).`,
      'Pass a file that --log has written, or a new one in an existing folder.',
    );
  }
}

interface SameOptions {
  workers: number;
  concurrency: number;
  scale: number;
}

/** A campaign that the log has must be the one that is asked for. */
function assertSame(options: SameOptions, plan: PlannedCampaign, known: CampaignReport | undefined): void {
  if (!known) return;
  const wanted = {
    workers: options.workers,
    concurrency: options.concurrency,
    lease_ms: scaled(options.scale).leaseMs,
  };
  const other = Object.entries(wanted).find(([key, value]) => known[key as keyof typeof wanted] !== value);
  if (!other && known.scenarios === plan.scenarios) return;
  const [key, value] = other ?? ['scenarios', plan.scenarios];
  throw new UsageError(
    `The log has another campaign with seed ${plan.seed}: ${key} is ${known[key as 'scenarios']} there, and ${value} here.`,
    'Pass the options of that campaign, another --seed, or another --log.',
  );
}

/**
 * The file of a campaign; of several, each has its queue and seed in the name. Finds out before they start if it can be
 * written.
 */
async function historyFile(
  { history, historyFormat: format }: { history?: string; historyFormat: HistoryFile['format'] },
  plan: { queue: string; seed: number } | false,
): Promise<HistoryFile | undefined> {
  if (!history) return undefined;
  const { dir, name, ext } = path.parse(history);
  const file = plan ? path.join(dir, `${name}-${plan.queue}-${plan.seed}${ext}`) : history;
  await writeFile(file, '').catch((error: unknown) => {
    throw new UsageError(
      `Could not write ${file} (${(error as Error).message}).`,
      'Pass a file in an existing folder.',
    );
  });
  return { file, format };
}
