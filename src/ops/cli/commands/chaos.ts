import { InvalidArgumentError, Option, type Command } from 'commander';
import { faultKinds, type FaultKind } from '../../chaos/schedule.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson } from '../options.ts';
import { runCampaigns, type ChaosOptions } from './chaos-campaigns.ts';
import { after } from '../../../base/common/timer.ts';

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
        'Long campaigns are better split (`--campaigns`), and with `--log` the same command goes on after an interruption. The command starts its own servers in a temporary folder and removes them afterwards; it ignores DATABASE_URL and ' +
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
