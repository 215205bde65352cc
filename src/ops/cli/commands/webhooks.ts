import type { Command } from 'commander';
import { webhooks } from '../../../features/webhooks/declaration.ts';
import { operationCommand } from '../operation-command.ts';
import { note, print, deliveryTable, webhookTable } from '../output.ts';

const flags = { tenant: 'tenant of the webhook; default: default' };

/** Manages the webhooks of a database. Workers send them. */
export function addWebhooks(program: Command): Command {
  const group = program
    .command('webhooks')
    .summary('list, set, pause and remove webhooks, see their deliveries and send them again')
    .description('Manages webhooks.');

  operationCommand(group, webhooks, 'list', {
    summary: 'list the webhooks',
    examples: ['lanefold webhooks', 'lanefold webhooks list --json'],
    show(all) {
      if (all.length === 0) note('there are no webhooks; set one with `lanefold webhooks set`');
      else print(webhookTable(all).join('\n'));
    },
  });

  operationCommand(group, webhooks, 'set', {
    summary: 'set or replace a webhook; prints the secret of a new one',
    examples: ['lanefold webhooks set orders --url https://example.com/webhooks --types run.completed run.failed'],
    environment: ['LANEFOLD_PRIVATE_WEBHOOKS'],
    flags,
    show({ secret }, name) {
      print(`${name} is set`);
      if (secret) print(`secret, shown only now: ${secret}`);
    },
  });

  operationCommand(group, webhooks, 'rotate', {
    summary: 'give a webhook a new secret, and print it',
    examples: ['lanefold webhooks rotate orders --keep 7d'],
    flags: { ...flags, keepMs: 'how long earlier secrets stay valid; default: 1d' },
    json: (answer, name) => ({ name, ...answer }),
    show: ({ secret }) => print(`secret, shown only now: ${secret}`),
  });

  for (const [verb, done, summary] of [
    ['pause', 'paused', 'pause a webhook; events are kept'],
    ['resume', 'resumed', 'resume a paused webhook, with what was not delivered meanwhile'],
    ['remove', 'removed', 'remove a webhook and its deliveries'],
  ] as const)
    operationCommand(group, webhooks, verb, {
      summary,
      examples: [`lanefold webhooks ${verb} orders`],
      flags,
      json: (_, name) => ({ name, [done]: true }),
      show: (_, name) => print(`${name} is ${done}`),
    });

  operationCommand(group, webhooks, 'test', {
    summary: 'send a test event',
    examples: ['lanefold webhooks test orders'],
    flags,
    json: ({ id }, name) => ({ name, id }),
    show: ({ id }, name) => print(`${id} will be sent; see \`lanefold webhooks deliveries ${name}\``),
  });

  operationCommand(group, webhooks, 'deliveries', {
    summary: 'list the deliveries of a webhook, newest first',
    examples: ['lanefold webhooks deliveries orders --status failed'],
    flags: { ...flags, status: 'only these', limit: 'how many' },
    defaults: { limit: 20 },
    show(found) {
      if (found.length === 0) note('nothing was to be sent yet');
      else print(deliveryTable(found).join('\n'));
    },
  });

  operationCommand(group, webhooks, 'redeliver', {
    summary: 'send one delivery again, or all failed ones since a time',
    examples: ['lanefold webhooks redeliver orders --since 2026-11-25T06:00:00Z'],
    flags,
    json: ({ redelivered }, name) => ({ name, redelivered }),
    show: ({ redelivered }) =>
      print(`${redelivered} ${redelivered === 1 ? 'delivery' : 'deliveries'} will be sent again`),
  });
  return group;
}
