import { InvalidArgumentError, Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { ScheduleDefinition } from '../../../features/schedules/definition/definition.ts';
import { catchUps, overlaps } from '../../../features/schedules/definition/definition.ts';
import type { ListedSchedule } from '../../../features/schedules/operations/schedules.ts';
import { actor, duration, wholeNumber, withAgents, type ConnectionOptions } from '../options.ts';
import { loadAgentsFile } from '../agents-file.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { note, print, printJson, scheduleTable, slotTable } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  tenant?: string;
}

interface Page {
  limit?: number;
  after?: string;
}

interface SetOptions extends Options, Omit<ScheduleDefinition, 'options' | 'startAt' | 'endAt' | 'threadId'> {
  agents?: string;
  every?: number;
  jitter?: number;
  start?: Date;
  end?: Date;
  thread?: string;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the schedules of a database. Workers start their runs. */
export function addSchedules(program: Command): Command {
  const schedules = program
    .command('schedules')
    .summary('list, set, pause and remove schedules, and see what their slots did')
    .description('Manages schedules. Without a command, lists them with their next slots.');

  withPage(subcommand(schedules, 'list', 'list the schedules with their next slots', { isDefault: true }))
    .addHelpText('after', commandHelp(['lanefold schedules', 'lanefold schedules list --json'], [...environment]))
    .action(({ limit, after, ...options }: Options & Page) =>
      withLanefold(options, async ({ schedules }) => {
        const { data, nextAfter } = await schedules.list(omitUndefined({ limit, after }));
        if (options.json) return printJson({ data: data.map(toData), next_after: nextAfter });
        if (data.length === 0) return note('there are no schedules; set one with `lanefold schedules set`');
        print(scheduleTable(data).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
    );

  withAgents(withTenant(subcommand(schedules, 'set', 'set or replace a schedule; what is paused stays paused')))
    .argument('<name>', 'name of the schedule')
    .requiredOption('--agent <agent>', 'agent of its runs')
    .requiredOption('--input <text>', 'user message; {{date}}, {{time}}, {{slot}} and {{previous}} are filled in')
    .option('--cron <text>', "cron expression, such as '0 6 * * MON-FRI'")
    .option('--every <duration>', 'interval, such as 15m or 6h', duration)
    .option('--time-zone <zone>', 'IANA time zone; default: UTC')
    .option('--start <time>', 'the first slot is not before, in ISO 8601', time)
    .option('--end <time>', 'the last slot is before, in ISO 8601', time)
    .option('--thread <id>', 'thread that all its runs go on with; default: a new one for each')
    .addOption(new Option('--overlap <what>', 'what a slot does while an earlier run has not ended').choices(overlaps))
    .addOption(new Option('--catch-up <which>', 'which slots of a backlog to run').choices(catchUps))
    .option('--jitter <duration>', 'delays each slot by up to this much', duration)
    .addHelpText(
      'after',
      commandHelp(
        [
          "lanefold schedules set nightly --agents agents.ts --agent reporter --cron '0 2 * * *' --input 'Report {{date}}'",
          "lanefold schedules set watch --agent watcher --every 15m --thread watch --input 'Anything new since {{previous}}?'",
        ],
        [...environment, 'LANEFOLD_AGENTS'],
      ),
    )
    .action(async (name: string, given: SetOptions) => {
      const { databaseUrl, redisUrl, dir, json, tenant, agents, every, jitter, start, end, thread, ...rest } = given;
      const known = await loadAgentsFile(agents);
      const act = async ({ schedules }: Lanefold) => {
        const times = { everyMs: every, jitterMs: jitter, startAt: start, endAt: end, threadId: thread };
        const definition = omitUndefined({ ...rest, ...times }) as ScheduleDefinition;
        const schedule = await schedules.set(name, definition, omitUndefined({ tenant, by: actor() }));
        if (json) printJson(toData(schedule));
        else print(`${name} is set${schedule.next[0] ? `; next slot ${schedule.next[0].toISOString()}` : ''}`);
      };
      await withLanefold(omitUndefined({ databaseUrl, redisUrl, dir }), act, known);
    });

  for (const [verb, done, summary] of [
    ['pause', 'paused', 'pause a schedule'],
    ['resume', 'resumed', 'let a paused schedule go on with the next slot from now on'],
    ['remove', 'removed', 'remove a schedule; runs that it has started go on'],
  ] as const)
    withTenant(subcommand(schedules, verb, summary))
      .argument('<name>', 'name of the schedule')
      .addHelpText('after', commandHelp([`lanefold schedules ${verb} nightly`], [...environment]))
      .action((name: string, { tenant, ...options }: Options) =>
        withLanefold(options, async ({ schedules }) => {
          await schedules[verb](name, omitUndefined({ tenant, by: actor() }));
          if (options.json) printJson({ name, [done]: true });
          else print(`${name} is ${done}`);
        }),
      );

  withPage(withTenant(subcommand(schedules, 'slots', 'list the slots of a schedule that have come, newest first')))
    .argument('<name>', 'name of the schedule')
    .addHelpText('after', commandHelp(['lanefold schedules slots nightly'], [...environment]))
    .action((name: string, { tenant, limit, after, ...options }: Options & Page) =>
      withLanefold(options, async ({ schedules }) => {
        const { data, nextAfter } = await schedules.slots(name, omitUndefined({ tenant, limit, after }));
        if (options.json) return printJson({ data: data.map(snakeKeys), next_after: nextAfter });
        if (data.length === 0) return note('no slot has come yet');
        print(slotTable(data).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
    );
  return schedules;
}

const withPage = (command: Command): Command =>
  command
    .option('--limit <count>', 'how many; default 50', wholeNumber(1, 1_000))
    .option('--after <cursor>', 'the next page');

const withTenant = (command: Command): Command =>
  command.option('--tenant <tenant>', 'tenant of the schedule and its runs; default: default');

function time(text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('It must be a time such as 2026-11-25T06:00:00Z.');
}

const toData = ({ options, ...schedule }: ListedSchedule) =>
  snakeKeys({ ...schedule, ...(options ? { options: snakeKeys(options) } : {}) });
