import { InvalidArgumentError, type Command } from 'commander';
import { namedIntervals, type LimitInterval } from '../../../agent/limits/limit.ts';
import type { LimitDefinition } from '../../../agent/limits/types.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { limits } from '../../../runs/operations/limits/declaration.ts';
import { usedLimits } from '../../../runs/operations/limits/usage.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { operationCommand } from '../operation-command.ts';
import { duration, wholeNumber, type ConnectionOptions } from '../options.ts';
import { holderTable, limitTable, note, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  after?: string;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;
const flags = { tenant: 'limit of this tenant, for its runs only; default: of the operator' };

/** Manages the limits of a database. Access to the database is enough to set them. */
export function addLimits(program: Command): Command {
  const group = program
    .command('limits')
    .summary('list, set and remove limits of runs, model calls, tokens and money')
    .description('Manages limits.');
  addList(group);
  addHolders(group);
  addSet(group);
  operationCommand(group, limits, 'remove', {
    summary: 'remove a limit; runs that wait for it continue',
    examples: ['lanefold limits remove tpm'],
    flags,
    json: (_, name) => ({ name, removed: true }),
    show: (_, name) => print(`${name} is removed`),
  });
  return group;
}

function addList(group: Command): void {
  subcommand(group, 'list', 'list the limits, what was used of them, and how many runs wait')
    .option('--name <name>', 'only limits with this name')
    .option('--keys <n>', 'keys of each limit to list, those that runs wait for first', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'continue after this key: the next_after of a limit')
    .addHelpText('after', commandHelp(['lanefold limits', 'lanefold limits list --json'], [...environment]))
    .action(({ name, keys, after, ...options }: Options & { name?: string; keys: number }) =>
      withLanefold(options, async ({ limits }) => {
        const found = await usedLimits(limits, omitUndefined({ name, after, limit: keys }));
        if (options.json) {
          return printJson({
            data: found.map(({ limit, uses, nextAfter }) => ({
              ...snakeKeys(limit),
              usage: uses.map(snakeKeys),
              next_after: nextAfter,
            })),
          });
        }
        if (found.length === 0) return note('there are no limits; set one with `lanefold limits set`');
        print(limitTable(found).join('\n'));
        for (const { limit, nextAfter } of found)
          if (nextAfter)
            note(`${limit.name} has more keys: lanefold limits list --keys ${keys} --after '${nextAfter}'`);
      }),
    );
}

function addHolders(group: Command): void {
  subcommand(group, 'holders', 'list the runs that hold a slot of a limit, or have reserved some of it')
    .argument('[name]', 'only of limits with this name')
    .option('--key <key>', 'only of this key')
    .option('--most <n>', 'runs to list, the longest first', wholeNumber(1, 1_000), 100)
    .option('--after <cursor>', 'continue after this run: the next_after of the list')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold limits holders slots', 'lanefold limits holders slots --key acme --json'],
        [...environment],
      ),
    )
    .action((name: string | undefined, { key, most, after, ...options }: Options & { key?: string; most: number }) =>
      withLanefold(options, async ({ limits }) => {
        const { data, nextAfter } = await limits.holders(omitUndefined({ name, key, after, limit: most }));
        if (options.json) return printJson({ data: data.map(snakeKeys), next_after: nextAfter });
        if (data.length === 0) return note('no run holds anything of a limit');
        print(holderTable(data).join('\n'));
        if (nextAfter) note(`there are more: --after '${nextAfter}'`);
      }),
    );
}

function addSet(group: Command): void {
  operationCommand(group, limits, 'set', {
    summary: 'set or replace a limit; what was used stays used',
    examples: [
      "lanefold limits set slots --kind concurrency --amount 5 --scope 'customer=*' --amount-for acme=20",
      'lanefold limits set tpm --kind tokens --amount 100000 --per minute --scope model=openai:gpt-5',
      'lanefold limits set budget --kind money --amount 250 --calendar month --time-zone Europe/Berlin',
    ],
    flags: {
      ...flags,
      kind: 'what the limit counts',
      amount: 'the largest amount; for money in US dollars',
      calendar: 'interval of the calendar',
      tokens: 'which tokens count',
      timeZone: 'time zone of --calendar; default: UTC',
      shareBy: 'dimension whose values take turns when runs wait',
      onExhausted: 'a run that needs more waits or ends, or only gives notice',
    },
    without: ['scope', 'amounts', 'per', 'shares', 'reserve'],
    more: {
      add: (command) =>
        command
          .option('--scope <dimension=value>', 'the runs it applies to; *: each value by itself; repeatable', texts)
          .option(
            '--per <interval>',
            'sliding interval: second, minute, hour, day, or such as 90s, 15m or 7d',
            interval,
          )
          .option('--amount-for <key=n>', 'other amount for one value of the dimension with *; repeatable', decimals)
          .option('--share <value=n>', 'turns of a value of --share-by; default: 1; repeatable', decimals)
          .option('--reserve-for <value=n>', 'what only this value of --share-by may use; repeatable', decimals),
      fields: ({ scope, per, amountFor, share, reserveFor }) =>
        omitUndefined({ scope, per, amounts: amountFor, shares: share, reserve: reserveFor }),
    },
    show: (_, name) => print(`${name} is set`),
  });
}

function decimal(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number such as 100000 or 0.25.');
}

const interval = (text: string): LimitDefinition['per'] =>
  Object.hasOwn(namedIntervals, text) ? (text as LimitInterval) : duration(text);

function pair(text: string, at: number): [string, string] {
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new InvalidArgumentError('Write it as name=value.');
}

/** A dimension contains no `=`. */
const texts = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [dimension, value] = pair(text, text.indexOf('='));
  return { ...before, [dimension]: value };
};

/** A number contains no `=`. */
const decimals = (text: string, before: Record<string, number> = {}): Record<string, number> => {
  const [key, value] = pair(text, text.lastIndexOf('='));
  return { ...before, [key]: decimal(value) };
};
