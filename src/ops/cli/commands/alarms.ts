import type { Command } from 'commander';
import { toWire } from '../../../base/operations/wire.ts';
import { RunSelection } from '../../../database/store/run/declaration.ts';
import { mostCounted } from '../../../database/store/run/select-runs.ts';
import { AlarmFilter, alarms } from '../../../features/alarms/declaration.ts';
import type { ListedAlarm } from '../../../features/alarms/types.ts';
import { flagFor, operationCommand, valuesOf } from '../operation-command.ts';
import { note, print, table } from '../output.ts';

const tenant = 'tenant of the alarm';

/** The flags of a filter: its fields, without the times of the selection, which the alarm has. */
const fields = Object.fromEntries(Object.entries(RunSelection.shape).filter(([name]) => name in AlarmFilter.shape));

/** Manages the alarms of a database. Workers count. */
export function addAlarms(program: Command): Command {
  const group = program
    .command('alarms')
    .summary('be told when too many runs match a filter')
    .description('Manages alarms.');

  operationCommand(group, alarms, 'list', {
    summary: 'list the alarms',
    examples: ['lanefold alarms'],
    show(all) {
      if (all.length === 0) return note('there are no alarms; set one with `lanefold alarms set`');
      print(table(['alarm', 'tenant', 'filter', 'rule', 'runs', 'state'], all.map(rowOf)).join('\n'));
    },
  });

  operationCommand(group, alarms, 'set', {
    summary: 'set or change an alarm',
    examples: ['lanefold alarms set many-failures --status failed --agent support --more-than 10 --within 10m'],
    flags: {
      tenant,
      moreThan: 'raised when more runs than this match; default: 0',
      share: 'and when they are more than this share of all runs of the agent',
      withinMs: 'runs that were accepted within this time count; default: 10m',
      clearAfterMs: 'how long no more than that must match before it is cleared; default: 1m',
    },
    without: ['filter'],
    more: {
      add(command) {
        for (const [name, schema] of Object.entries(fields))
          command.addOption(flagFor(name, schema, undefined, undefined));
        return command;
      },
      fields: (flags) => ({ filter: valuesOf(fields, flags) }),
    },
    show: (alarm, name) => print(`${name} is set: ${ruleOf(alarm)}`),
  });

  for (const [verb, done, summary] of [
    ['pause', 'paused', 'pause an alarm, which clears it'],
    ['resume', 'resumed', 'resume a paused alarm'],
    ['remove', 'removed', 'remove an alarm and its counts'],
  ] as const)
    operationCommand(group, alarms, verb, {
      summary,
      examples: [`lanefold alarms ${verb} many-failures`],
      flags: { tenant },
      json: (_, name) => ({ name, [done]: true }),
      show: (_, name) => print(`${name} is ${done}`),
    });

  operationCommand(group, alarms, 'counts', {
    summary: 'list what an alarm counted over time',
    examples: ['lanefold alarms counts many-failures --since 2026-11-25T06:00:00Z'],
    flags: { tenant, since: 'only counts since then; default: of the last day' },
    show(counts, name) {
      if (counts.length === 0) return note(`no worker has counted for ${name} yet`);
      const rows = counts.map(({ at, runs, allRuns, raised }) => [
        at.toISOString(),
        countOf(runs),
        countOf(allRuns),
        raised ? 'raised' : '',
      ]);
      print(table(['time', 'runs', 'of', ''], rows).join('\n'));
    },
  });
  return group;
}

const rowOf = (alarm: ListedAlarm): string[] => [
  alarm.name,
  alarm.tenant,
  filterOf(alarm),
  ruleOf(alarm),
  countOf(alarm.runs),
  stateOf(alarm),
];

const countOf = (runs: number | null): string => `${runs ?? ''}${runs !== null && runs >= mostCounted ? '+' : ''}`;

const filterOf = ({ filter }: ListedAlarm): string =>
  Object.entries(toWire(AlarmFilter, filter) as object)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ') || 'all runs';

const ruleOf = ({ moreThan, share, withinMs }: ListedAlarm): string =>
  `more than ${moreThan}${share === null ? '' : ` and ${share * 100} %`} within ${withinMs / 60_000} min`;

function stateOf({ raisedAt, pausedAt, countedAt }: ListedAlarm): string {
  if (pausedAt) return 'paused';
  if (raisedAt) return `raised since ${raisedAt.toISOString()}`;
  return countedAt ? 'quiet' : 'not counted yet';
}
