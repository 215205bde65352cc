import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { toPayload, duration, withRedis, type ConnectionOptions } from '../options.ts';
import { commandHelp } from '../help.ts';
import { print, printJson } from '../output.ts';
import { subcommand, withLanefold } from '../connect.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  tenant?: string;
  keep?: number;
}

/** Sends events to tool calls that wait, and signs tokens with which others may send them. */
export function addEvents(program: Command): Command {
  const events = program
    .command('events')
    .summary('send events to tool calls that wait')
    .description('Sends events to tool calls that wait, and signs tokens with which others may send them.');

  withRedis(subcommand(events, 'send', 'send an event to the calls that wait for it'))
    .argument('<event>', 'name of the event')
    .argument('[payload]', 'JSON or text, the result of the calls; default null')
    .option('--keep <duration>', 'keep it for calls that wait later, such as 1d', duration)
    .option('--by <name>', 'who sends it, for the log')
    .option('--tenant <id>', 'tenant of the calls; default: default')
    .addHelpText(
      'after',
      commandHelp(
        [`lanefold events send order:42:paid '{"amount": 30}'`, 'lanefold events send order:42:paid --keep 1d'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action((event: string, payload: string | undefined, options: Options & { by?: string }) =>
      withLanefold(options, async (lanefold) => {
        const how = omitUndefined({ keepMs: options.keep, by: options.by });
        const sent = await on(lanefold, options).send(event, toPayload(payload), how);
        if (options.json) return printJson({ ...sent, resolved: sent.resolved.map(snakeKeys) });
        const { length } = sent.resolved;
        print(`resolved ${length} ${length === 1 ? 'call' : 'calls'}${sent.kept ? '; the event is kept' : ''}`);
      }),
    );

  subcommand(events, 'token', 'sign a token with which anyone may send an event')
    .argument('<event>', 'name of the event')
    .option('--expires <duration>', 'how long it is valid, such as 7d; default: 30d', duration)
    .option('--keep <duration>', 'keep the event for calls that wait later', duration)
    .option('--tenant <id>', 'tenant of the calls; default: default')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold events token order:42:paid --expires 7d'],
        ['DATABASE_URL', 'LANEFOLD_TOKEN_SECRET', 'LANEFOLD_DIR'],
      ),
    )
    .action((event: string, options: Options & { expires?: number }) =>
      withLanefold(options, async (lanefold) => {
        const how = omitUndefined({ expiresMs: options.expires, keepMs: options.keep });
        const token = await on(lanefold, options).token(event, how);
        if (options.json) return printJson({ token, path: `/signed/events/${token}` });
        print(`/signed/events/${token}`);
      }),
    );
  return events;
}

const on = (lanefold: Lanefold, { tenant }: Options) =>
  (tenant === undefined ? lanefold : lanefold.forTenant(tenant)).events;
