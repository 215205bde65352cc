import { InvalidArgumentError, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/omit-undefined.ts';
import type { ListedMonitor } from '../../../features/monitors/operations/types.ts';
import type { RunScore } from '../../../features/monitors/store/run-scores.ts';
import { actor } from '../actor.ts';
import { table } from '../demo/table.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';
import { subcommand, withLanefold } from '../subcommand.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  tenant?: string;
}

interface SetOptions extends Options {
  agents?: string[];
  sample?: number;
  scorers?: string[];
  rubric?: string;
  judge?: string;
  judgeModel?: string;
  alertBelow?: number;
  alertOf?: number;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the monitors of a database. Workers score. */
export function addMonitors(program: Command): Command {
  const monitors = program
    .command('monitors')
    .summary('score a share of the runs that end, and be told when the scores are low')
    .description('Manages monitors. Without a command, lists them.');
  const help = (command: Command, ...examples: string[]) =>
    command.addHelpText('after', commandHelp(examples, [...environment]));

  help(subcommand(monitors, 'list', 'list the monitors', { isDefault: true }), 'lanefold monitors').action(
    (options: Options) =>
      withLanefold(options, async ({ monitors: all }) => {
        const found = await all.list();
        if (options.json) return printJson({ data: found.map(snakeKeys) });
        if (found.length === 0) return note('there are no monitors; set one with `lanefold monitors set`');
        const heads = ['monitor', 'tenant', 'agents', 'sample', 'scored', 'low since', 'read to'];
        print(table(heads, found.map(monitorRow)).join('\n'));
      }),
  );

  help(
    withTenant(subcommand(monitors, 'set', 'set or change a monitor'))
      .argument('<name>', 'name of the monitor')
      .option('--agents <agents...>', 'agents whose runs it scores; default: all')
      .option('--sample <share>', 'share of the runs that it scores; default: 0.1', share)
      .option('--scorers <names...>', 'scorers that workers have')
      .option('--rubric <text>', 'what a judge looks at')
      .option('--judge <agent>', 'agent that scores by the rubric')
      .option('--judge-model <model>', 'model of the judge')
      .option('--alert-below <score>', 'tell webhooks when the mean score is lower', share)
      .option('--alert-of <runs>', 'of how many runs, the last ones; default: 50', wholeNumber(1, 1_000)),
    "lanefold monitors set polite --agents support --sample 0.05 --rubric 'Is polite.' --judge judge --alert-below 0.8",
  ).action((name: string, { tenant, json, ...given }: SetOptions) => {
    const { agents, sample, scorers, rubric, judge, judgeModel, alertBelow, alertOf, ...options } = given;
    if (judge === undefined && judgeModel !== undefined)
      throw new UsageError('--judge-model needs --judge.', 'It is the model of the judge.');
    if (alertBelow === undefined && alertOf !== undefined)
      throw new UsageError('--alert-of needs --alert-below.', 'Without it, there is no alert.');
    const definition = omitUndefined({
      ...{ agents, sample, scorers, rubric },
      judge: judge === undefined ? undefined : { agent: judge, ...omitUndefined({ model: judgeModel }) },
      alert: alertBelow === undefined ? undefined : { below: alertBelow, ...omitUndefined({ of: alertOf }) },
    });
    return withLanefold(options, async ({ monitors: all }) => {
      const monitor = await all.set(name, definition, omitUndefined({ tenant, by: actor() }));
      if (json) printJson(snakeKeys(monitor));
      else print(`${name} is set; workers score ${monitor.sample * 100} % of the runs that end from now on`);
    });
  });

  help(
    withTenant(subcommand(monitors, 'remove', 'remove a monitor and its scores')).argument(
      '<name>',
      'name of the monitor',
    ),
    'lanefold monitors remove polite',
  ).action((name: string, { tenant, ...options }: Options) =>
    withLanefold(options, async ({ monitors: all }) => {
      await all.remove(name, omitUndefined({ tenant, by: actor() }));
      if (options.json) printJson({ name, removed: true });
      else print(`${name} is removed`);
    }),
  );

  help(
    withTenant(subcommand(monitors, 'scores', 'list the scores that a monitor gave to runs, newest first'))
      .argument('<name>', 'name of the monitor')
      .option('--below <score>', 'only runs with a lower score', share)
      .option('--limit <n>', 'how many', wholeNumber(1, 1_000), 20)
      .option('--after <cursor>', 'the next page'),
    'lanefold monitors scores polite --below 0.5',
  ).action(
    (
      name: string,
      { tenant, below, limit, after, ...options }: Options & { below?: number; limit: number; after?: string },
    ) =>
      withLanefold(options, async ({ monitors: all }) => {
        const { data, nextAfter } = await all.scores(name, omitUndefined({ tenant, below, limit, after }));
        if (options.json) return printJson({ data: data.map((one) => snakeKeys(one)), next_after: nextAfter });
        if (data.length === 0) return note(`${name} has scored no run yet`);
        print(table(['thread', 'run', 'agent', 'score', 'by', 'why'], data.map(scoreRow)).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
  );
  return monitors;
}

const withTenant = (command: Command): Command => command.option('--tenant <id>', 'tenant of the monitor');

const monitorRow = ({ name, tenant, agents, sample, scored, lowSince, readTo }: ListedMonitor): string[] => [
  ...[name, tenant, agents.join(', ') || 'all', `${sample * 100} %`, String(scored)],
  ...[lowSince?.toISOString() ?? '', readTo.toISOString()],
];

function scoreRow({ threadId, runId, agent, status, score, scores }: RunScore): string[] {
  const lowest = scores.reduce<RunScore['scores'][number] | undefined>(
    (low, one) => (low === undefined || (one.score ?? 2) < (low.score ?? 2) ? one : low),
    undefined,
  );
  const shown = status === 'waiting' ? 'waiting' : (score?.toFixed(2) ?? 'none');
  return [threadId, runId, agent, shown, lowest?.scorer ?? '', (lowest?.error ?? lowest?.reason ?? '').slice(0, 60)];
}

function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError('Pass a number above 0 and up to 1.');
  return value;
}
