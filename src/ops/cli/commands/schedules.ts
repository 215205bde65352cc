import type { Command } from 'commander';
import { schedules } from '../../../features/schedules/declaration.ts';
import { withAgents } from '../options.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, scheduleTable, slotTable } from '../output.ts';

const tenant = 'tenant of the schedule and its runs; default: default';
const page = { limit: 'how many; default 50', after: 'the next page' };

/** Manages the schedules of a database. Workers start their runs. */
export function addSchedules(program: Command): Command {
  const group = program
    .command('schedules')
    .summary('list, set, pause and remove schedules, and see what their slots did')
    .description('Manages schedules.');

  operationCommand(group, schedules, 'list', {
    summary: 'list the schedules with their next slots',
    examples: ['lanefold schedules', 'lanefold schedules list --json'],
    flags: page,
    show({ data, nextAfter }) {
      if (data.length === 0) return note('there are no schedules; set one with `lanefold schedules set`');
      print(scheduleTable(data).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });

  addSet(group);

  for (const [verb, done, summary] of [
    ['pause', 'paused', 'pause a schedule'],
    ['resume', 'resumed', 'let a paused schedule continue with the next slot from now on'],
    ['remove', 'removed', 'remove a schedule; runs that it has started continue'],
  ] as const)
    operationCommand(group, schedules, verb, {
      summary,
      examples: [`lanefold schedules ${verb} nightly`],
      flags: { tenant },
      json: (_, name) => ({ name, [done]: true }),
      show: (_, name) => print(`${name} is ${done}`),
    });

  operationCommand(group, schedules, 'slots', {
    summary: 'list the slots of a schedule that have come, newest first',
    examples: ['lanefold schedules slots nightly'],
    flags: { tenant, ...page },
    show({ data, nextAfter }) {
      if (data.length === 0) return note('no slot has come yet');
      print(slotTable(data).join('\n'));
      if (nextAfter !== null) note(`more: --after ${nextAfter}`);
    },
  });
  return group;
}

function addSet(group: Command): void {
  operationCommand(group, schedules, 'set', {
    summary: 'set or replace a schedule; what is paused stays paused',
    examples: [
      "lanefold schedules set nightly --agents agents.ts --agent reporter --cron '0 2 * * *' --input 'Report {{date}}'",
      "lanefold schedules set watch --agent watcher --every 15m --thread watch --input 'Anything new since {{previous}}?'",
    ],
    environment: ['LANEFOLD_AGENTS'],
    without: ['options'],
    flags: {
      tenant,
      agent: 'agent of its runs',
      input: 'user message; {{date}}, {{time}}, {{slot}} and {{previous}} are filled in',
      cron: "cron expression, such as '0 6 * * MON-FRI'",
      everyMs: 'interval, such as 15m or 6h',
      timeZone: 'IANA time zone; default: UTC',
      startAt: 'no slot before this time, in ISO 8601',
      endAt: 'no slot from this time on, in ISO 8601',
      threadId: 'thread that all its runs continue with; default: a new one for each',
      overlap: 'what a slot does while an earlier run has not ended',
      catchUp: 'which slots of a backlog to run',
      jitterMs: 'delays each slot by up to this much',
    },
    more: { add: withAgents },
    knows: ({ agents }) => loadAgentsFile(agents as string | undefined),
    show: ({ next }, name) => print(`${name} is set${next[0] ? `; next slot ${next[0].toISOString()}` : ''}`),
  });
}
