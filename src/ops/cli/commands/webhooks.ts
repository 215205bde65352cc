import { InvalidArgumentError, Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/omit-undefined.ts';
import type { DeliveryStatus, WebhookType } from '../../../features/webhooks/definition/definition.ts';
import { deliveryStatuses, webhookTypes } from '../../../features/webhooks/definition/definition.ts';
import { actor } from '../actor.ts';
import { commandHelp } from '../help.ts';
import { duration, wholeNumber, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';
import { subcommand, withLanefold } from '../subcommand.ts';
import { deliveryTable, webhookTable } from '../webhook-table.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  tenant?: string;
}

interface SetOptions extends Options {
  url: string;
  types?: WebhookType[];
  agents?: string[];
  ordered?: boolean;
  includeResult?: boolean;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the webhooks of a database. Workers send them. */
export function addWebhooks(program: Command): Command {
  const webhooks = program
    .command('webhooks')
    .summary('list, set, pause and remove webhooks, see their deliveries and send them again')
    .description('Manages webhooks. Without a command, lists them.');
  const help = (command: Command, ...examples: string[]) =>
    command.addHelpText('after', commandHelp(examples, [...environment]));

  help(
    subcommand(webhooks, 'list', 'list the webhooks', { isDefault: true }),
    'lanefold webhooks',
    'lanefold webhooks list --json',
  ).action((options: Options) =>
    withLanefold(options, async ({ webhooks }) => {
      const all = await webhooks.list();
      if (options.json) return printJson({ data: all.map(snakeKeys) });
      if (all.length === 0) return note('there are no webhooks; set one with `lanefold webhooks set`');
      print(webhookTable(all).join('\n'));
    }),
  );

  withTenant(subcommand(webhooks, 'set', 'set or replace a webhook; prints the secret of a new one'))
    .argument('<name>', 'name of the webhook')
    .requiredOption('--url <url>', 'https URL at a public address')
    .addOption(new Option('--types <types...>', 'events it wants; default: all').choices(webhookTypes))
    .option('--agents <agents...>', 'agents whose events it wants; default: all')
    .option('--ordered', 'send the events of a thread one after the other')
    .option('--include-result', 'include the results of runs')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold webhooks set orders --url https://example.com/webhooks --types run.completed run.failed'],
        [...environment, 'LANEFOLD_PRIVATE_WEBHOOKS'],
      ),
    )
    .action((name: string, { tenant, json, url, types, agents, ordered, includeResult, ...options }: SetOptions) =>
      withLanefold(options, async ({ webhooks }) => {
        const definition = omitUndefined({ url, types, agents, ordered, includeResult });
        const webhook = await webhooks.set(name, definition, omitUndefined({ tenant, by: actor() }));
        if (json) return printJson(snakeKeys(webhook));
        print(`${name} is set`);
        if (webhook.secret) print(`secret, shown only now: ${webhook.secret}`);
      }),
    );

  help(
    withTenant(subcommand(webhooks, 'rotate', 'give a webhook a new secret, and print it'))
      .argument('<name>', 'name of the webhook')
      .option('--keep <duration>', 'how long the secrets before stay valid; default: 1d', duration),
    'lanefold webhooks rotate orders --keep 7d',
  ).action((name: string, { tenant, keep, ...options }: Options & { keep?: number }) =>
    withLanefold(options, async ({ webhooks }) => {
      const { secret } = await webhooks.rotate(name, omitUndefined({ tenant, keepMs: keep, by: actor() }));
      if (options.json) printJson({ name, secret });
      else print(`secret, shown only now: ${secret}`);
    }),
  );

  for (const [verb, done, summary] of [
    ['pause', 'paused', 'pause a webhook; events are kept'],
    ['resume', 'resumed', 'let a paused webhook go on, with what was not delivered meanwhile'],
    ['remove', 'removed', 'remove a webhook and its deliveries'],
  ] as const)
    help(
      withTenant(subcommand(webhooks, verb, summary)).argument('<name>', 'name of the webhook'),
      `lanefold webhooks ${verb} orders`,
    ).action((name: string, { tenant, ...options }: Options) =>
      withLanefold(options, async ({ webhooks }) => {
        await webhooks[verb](name, omitUndefined({ tenant, by: actor() }));
        if (options.json) printJson({ name, [done]: true });
        else print(`${name} is ${done}`);
      }),
    );

  help(
    withTenant(subcommand(webhooks, 'test', 'send a test event')).argument('<name>', 'name of the webhook'),
    'lanefold webhooks test orders',
  ).action((name: string, { tenant, ...options }: Options) =>
    withLanefold(options, async ({ webhooks }) => {
      const { id } = await webhooks.test(name, omitUndefined({ tenant, by: actor() }));
      if (options.json) printJson({ name, id });
      else print(`${id} will be sent; see \`lanefold webhooks deliveries ${name}\``);
    }),
  );

  help(
    withTenant(subcommand(webhooks, 'deliveries', 'list the deliveries of a webhook, newest first'))
      .argument('<name>', 'name of the webhook')
      .addOption(new Option('--status <status>', 'only these').choices(deliveryStatuses))
      .option('--limit <n>', 'how many', wholeNumber(1, 1_000), 20),
    'lanefold webhooks deliveries orders --status failed',
  ).action(
    (name: string, { tenant, status, limit, ...options }: Options & { status?: DeliveryStatus; limit: number }) =>
      withLanefold(options, async ({ webhooks }) => {
        const found = await webhooks.deliveries(name, omitUndefined({ tenant, status, limit }));
        if (options.json) return printJson({ data: found.map(snakeKeys) });
        if (found.length === 0) return note('nothing was to be sent yet');
        print(deliveryTable(found).join('\n'));
      }),
  );

  help(
    withTenant(subcommand(webhooks, 'replay', 'send one delivery again, or all failed ones since a time'))
      .argument('<name>', 'name of the webhook')
      .option('--id <delivery>', 'one delivery')
      .option('--since <time>', 'all failed ones of events since then, in ISO 8601', time),
    'lanefold webhooks replay orders --since 2026-11-25T06:00:00Z',
  ).action((name: string, { tenant, id, since, ...options }: Options & { id?: string; since?: Date }) =>
    withLanefold(options, async ({ webhooks }) => {
      const { replayed } = await webhooks.replay(name, omitUndefined({ tenant, id, since, by: actor() }));
      if (options.json) printJson({ name, replayed });
      else print(`${replayed} ${replayed === 1 ? 'delivery' : 'deliveries'} will be sent again`);
    }),
  );
  return webhooks;
}

const withTenant = (command: Command): Command =>
  command.option('--tenant <tenant>', 'tenant of the webhook; default: default');

function time(text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('It must be a time such as 2026-11-25T06:00:00Z.');
}
