import type { Command } from 'commander';
import { MonitorAlert, monitors } from '../../../features/monitors/declaration.ts';
import type { ListedMonitor, RunScore } from '../../../features/monitors/types.ts';
import { table, note, print } from '../output.ts';
import { UsageError } from '../errors.ts';
import { number, operationCommand } from '../operation-command.ts';
import { wholeNumber } from '../options.ts';

const tenant = 'tenant of the monitor';

/** Manages the monitors of a database. Workers score. */
export function addMonitors(program: Command): Command {
  const group = program
    .command('monitors')
    .summary('score a share of the runs that end, and be told when the scores are low')
    .description('Manages monitors.');

  operationCommand(group, monitors, 'list', {
    summary: 'list the monitors',
    examples: ['lanefold monitors'],
    show(all) {
      if (all.length === 0) return note('there are no monitors; set one with `lanefold monitors set`');
      const heads = ['monitor', 'tenant', 'agents', 'sample', 'scored', 'low since', 'read to'];
      print(table(heads, all.map(monitorRow)).join('\n'));
    },
  });

  operationCommand(group, monitors, 'set', {
    summary: 'set or change a monitor',
    examples: [
      "lanefold monitors set polite --agents support --sample 0.05 --rubric 'Is polite.' --judge judge --alert-below 0.8",
    ],
    flags: { tenant, sample: 'the share of the runs that it scores; default: 0.1' },
    without: ['judge', 'alert'],
    more: {
      add: (command) =>
        command
          .option('--judge <agent>', 'agent that scores by the rubric')
          .option('--judge-model <model...>', 'model of the judge, and those that stand in for it')
          .option('--alert-below <score>', 'tell webhooks when the mean score is lower', (text) =>
            number(MonitorAlert.shape.below, text),
          )
          .option(
            '--alert-of <runs>',
            'how many of the last runs count for the mean score; default: 50',
            wholeNumber(1, 1_000),
          ),
      fields: nested,
    },
    show: ({ sample }, name) =>
      print(`${name} is set; workers score ${sample * 100} % of the runs that end from now on`),
  });

  operationCommand(group, monitors, 'remove', {
    summary: 'remove a monitor and its scores',
    examples: ['lanefold monitors remove polite'],
    flags: { tenant },
    json: (_, name) => ({ name, removed: true }),
    show: (_, name) => print(`${name} is removed`),
  });

  operationCommand(group, monitors, 'scores', {
    summary: 'list the scores that a monitor gave to runs, newest first',
    examples: ['lanefold monitors scores polite --below 0.5'],
    flags: { tenant, limit: 'how many', after: 'the next page' },
    defaults: { limit: 20 },
    show({ data, nextAfter }, name) {
      if (data.length === 0) return note(`${name} has scored no run yet`);
      print(table(['thread', 'run', 'agent', 'score', 'by', 'why'], data.map(scoreRow)).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });
  return group;
}

/** The judge and the alert of a monitor, each of several flags. */
function nested({ judge, judgeModel: models, alertBelow: below, alertOf: of }: Record<string, unknown>): object {
  const model: unknown = Array.isArray(models) && models.length === 1 ? models[0] : models;
  if (judge === undefined && model !== undefined)
    throw new UsageError('--judge-model needs --judge.', 'It is the model of the judge.');
  if (below === undefined && of !== undefined)
    throw new UsageError('--alert-of needs --alert-below.', 'Without it, there is no alert.');
  return {
    ...(judge === undefined ? {} : { judge: { agent: judge, ...(model === undefined ? {} : { model }) } }),
    ...(below === undefined ? {} : { alert: { below, ...(of === undefined ? {} : { of }) } }),
  };
}

const monitorRow = ({ name, tenant, agents, sample, scored, lowSince, readTo }: ListedMonitor): string[] => [
  name,
  tenant,
  agents.join(', ') || 'all',
  `${sample * 100} %`,
  String(scored),
  lowSince?.toISOString() ?? '',
  readTo.toISOString(),
];

function scoreRow({ threadId, runId, agent, status, score, scores }: RunScore): string[] {
  const lowest = scores.reduce<RunScore['scores'][number] | undefined>(
    (low, one) => (low === undefined || (one.score ?? 2) < (low.score ?? 2) ? one : low),
    undefined,
  );
  const shown = status === 'waiting' ? 'waiting' : (score?.toFixed(2) ?? 'none');
  return [threadId, runId, agent, shown, lowest?.scorer ?? '', (lowest?.error ?? lowest?.reason ?? '').slice(0, 60)];
}
