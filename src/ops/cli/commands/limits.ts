import { InvalidArgumentError, Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { usedLimits } from '../../../runs/operations/limits/usage.ts';
import {
  namedIntervals,
  type LimitDefinition,
  type LimitInterval,
  limitKinds,
  onExhausted,
} from '../../../agent/limits/limit.ts';
import { actor, duration, wholeNumber, type ConnectionOptions } from '../options.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { holderTable, limitTable, note, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  tenant?: string;
}

interface SetOptions extends Options, Omit<LimitDefinition, 'amounts' | 'weights' | 'reserve'> {
  amountFor?: Record<string, number>;
  weight?: Record<string, number>;
  reserveFor?: Record<string, number>;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the limits of a database. Access to the database is enough to set them. */
export function addLimits(program: Command): Command {
  const limits = program
    .command('limits')
    .summary('list, set and remove limits of runs, model calls, tokens and money')
    .description('Manages limits. Without a command, lists them and what was used of them.');

  subcommand(limits, 'list', 'list the limits, what was used of them, and how many runs wait', { isDefault: true })
    .option('--name <name>', 'only limits with this name')
    .option('--keys <n>', 'keys of each limit to list, those that runs wait for first', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'go on after this key: the next_after of a limit')
    .addHelpText('after', commandHelp(['lanefold limits', 'lanefold limits list --json'], [...environment]))
    .action(({ name, keys, after, ...options }: Options & { name?: string; keys: number; after?: string }) =>
      withLanefold(options, async ({ limits }) => {
        const usage = limits.usage(omitUndefined({ name, after, limit: keys }));
        const found = usedLimits(...(await Promise.all([limits.list(), usage])), name)
          .filter(({ uses }) => after === undefined || uses.length > 0)
          .map((one) => ({ ...one, nextAfter: one.uses.length === keys ? one.uses.at(-1)!.cursor : null }));
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

  subcommand(limits, 'holders', 'list the runs that hold a slot of a limit, or have reserved some of it')
    .argument('[name]', 'only of limits with this name')
    .option('--key <key>', 'only of this key')
    .option('--most <n>', 'runs to list, the longest first', wholeNumber(1, 1_000), 100)
    .option('--after <cursor>', 'go on after this run: the next_after of the list')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold limits holders slots', 'lanefold limits holders slots --key acme --json'],
        [...environment],
      ),
    )
    .action(
      (
        name: string | undefined,
        { key, most, after, ...options }: Options & { key?: string; most: number; after?: string },
      ) =>
        withLanefold(options, async ({ limits }) => {
          const { data, nextAfter } = await limits.holders(omitUndefined({ name, key, after, limit: most }));
          if (options.json) return printJson({ data: data.map(snakeKeys), next_after: nextAfter });
          if (data.length === 0) return note('no run holds anything of a limit');
          print(holderTable(data).join('\n'));
          if (nextAfter) note(`there are more: --after '${nextAfter}'`);
        }),
    );

  withTenant(subcommand(limits, 'set', 'set or replace a limit; what was used stays used'))
    .argument('<name>', 'name of the limit')
    .addOption(new Option('--kind <kind>', 'what it counts').choices(limitKinds).makeOptionMandatory())
    .requiredOption('--amount <n>', 'the most of it; for money in US dollars', decimal)
    .option('--scope <dimension=value>', 'the runs it applies to; *: each value by itself; repeatable', texts)
    .option('--per <interval>', 'sliding interval: second, minute, hour, day, or such as 90s, 15m or 7d', interval)
    .addOption(new Option('--calendar <period>', 'interval of the calendar').choices(['day', 'week', 'month']))
    .option('--time-zone <zone>', 'time zone of --calendar; default: UTC')
    .addOption(new Option('--tokens <which>', 'which tokens count').choices(['input', 'output', 'total']))
    .option('--amount-for <key=n>', 'other amount for one value of the dimension with *; repeatable', decimals)
    .option('--share <dimension>', 'dimension whose values take turns when runs wait')
    .option('--weight <value=n>', 'turns of a value of --share; default: 1; repeatable', decimals)
    .option('--reserve-for <value=n>', 'what only this value of --share may use; repeatable', decimals)
    .addOption(
      new Option('--on-exhausted <what>', 'a run that needs more waits or ends, or only gives notice').choices(
        onExhausted,
      ),
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          "lanefold limits set slots --kind concurrency --amount 5 --scope 'customer=*' --amount-for acme=20",
          'lanefold limits set tpm --kind tokens --amount 100000 --per minute --scope model=openai:gpt-5',
          'lanefold limits set budget --kind money --amount 250 --calendar month --time-zone Europe/Berlin',
        ],
        [...environment],
      ),
    )
    .action(
      (
        name: string,
        { databaseUrl, redisUrl, dir, json, tenant, amountFor, weight, reserveFor, ...given }: SetOptions,
      ) =>
        withLanefold(omitUndefined({ databaseUrl, redisUrl, dir }), async ({ limits }) => {
          const definition = omitUndefined({
            ...given,
            amounts: amountFor,
            weights: weight,
            reserve: reserveFor,
          }) as LimitDefinition;
          const limit = await limits.set(name, definition, omitUndefined({ tenant, by: actor() }));
          if (json) printJson(snakeKeys(limit));
          else print(`${name} is set`);
        }),
    );

  withTenant(subcommand(limits, 'remove', 'remove a limit; runs that wait for it go on'))
    .argument('<name>', 'name of the limit')
    .addHelpText('after', commandHelp(['lanefold limits remove tpm'], [...environment]))
    .action((name: string, { tenant, ...options }: Options) =>
      withLanefold(options, async ({ limits }) => {
        await limits.remove(name, omitUndefined({ tenant, by: actor() }));
        if (options.json) printJson({ name, removed: true });
        else print(`${name} is removed`);
      }),
    );
  return limits;
}

const withTenant = (command: Command): Command =>
  command.option('--tenant <tenant>', 'limit of this tenant, for its runs only; default: of the operator');

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
