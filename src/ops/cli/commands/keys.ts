import type { Command } from 'commander';
import { scopes } from '../../../base/access/principal.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { closest } from '../../../base/checks/unknown-keys.ts';
import { oneLine, printable } from '../../../base/log/logger.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { ApiKey } from '../../../database/store/access/types.ts';
import { keys } from '../../../runs/operations/access/declaration.ts';
import { agentsOfWorkers, mostHours } from './agents.ts';
import { operationCommand } from '../operation-command.ts';
import { duration, wholeNumber } from '../options.ts';
import { note, print } from '../output.ts';

/** Manages the API keys of a database. Access to the database is enough to make keys for it. */
export function addKeys(program: Command): Command {
  const group = program
    .command('keys')
    .summary('create, list, rotate and revoke API keys')
    .description('Manages API keys. A key says what a caller may do, and with which agents and threads.');

  operationCommand(group, keys, 'create', {
    summary: 'create a key, which is shown only once',
    examples: [
      'lanefold keys create --name desk --scopes read,run,steer --agents support --expires 90d',
      'lanefold keys create --name acme --scopes admin,read,run --tenant acme',
      'lanefold keys create --name reviewer --scopes read,approve',
    ],
    flags: {
      name: 'what the key is for',
      tenant: 'only threads of this tenant',
      threadPrefix: 'only threads whose ids begin with this',
    },
    without: ['scopes', 'agents', 'limits', 'expiresInMs'],
    more: {
      add: (command) =>
        command
          .requiredOption('--scopes <list>', `comma-separated, from ${scopes.join(', ')}`, parts)
          .option(
            '--agents <list>',
            'only runs of these agents, in threads where no other agent has run; comma-separated',
            parts,
          )
          .option('--expires <duration>', 'lifetime, such as 30d or 12h; default: unlimited', duration)
          .option('--runs <n>', 'maximum number of runs of this key that have not ended', wholeNumber(1))
          .option('--requests-per-minute <n>', 'maximum requests per minute, in each API process', wholeNumber(1)),
      fields: ({ scopes, agents, expires, runs, requestsPerMinute }) =>
        omitUndefined({
          scopes,
          agents,
          expiresInMs: expires,
          limits: (runs ?? requestsPerMinute) ? omitUndefined({ runs, requestsPerMinute }) : undefined,
        }),
    },
    warn: (lanefold, flags) => warnOfUnknown(lanefold, flags['agents'] as string[] | undefined),
    show: showMinted,
  });

  operationCommand(group, keys, 'list', {
    summary: 'list the keys, without their secrets',
    examples: ['lanefold keys list', 'lanefold keys list --json'],
    show(all) {
      if (all.length === 0) note('there are no keys; create one with `lanefold keys create`');
      for (const key of all) print(line(key));
    },
  });

  operationCommand(group, keys, 'rotate', {
    summary: 'give a key a new secret; the old one keeps working for a while',
    examples: ['lanefold keys rotate KEY --overlap 1d'],
    arguments: [idOfKey],
    flags: { overlapMs: 'how long the old secret keeps working; default: 1h' },
    show: showMinted,
  });

  operationCommand(group, keys, 'revoke', {
    summary: 'revoke a key; servers notice within ten seconds',
    examples: ['lanefold keys revoke KEY'],
    arguments: [idOfKey],
    json: (_, id) => ({ id, revoked: true }),
    show: (_, id) => print(`${id} is revoked`),
  });
  return group;
}

/** The secret is shown only once; the id is in the list. */
const idOfKey = 'id of the key, from `lanefold keys list`, not its secret';

/** A key may be made before its agents are deployed, so an agent that no worker has had is only told of. */
async function warnOfUnknown(lanefold: Lanefold, agents: readonly string[] = []): Promise<void> {
  if (agents.length === 0) return;
  const known = await agentsOfWorkers(lanefold, mostHours);
  for (const agent of agents) {
    if (known.has(agent) || (await lanefold.agents.versions(agent)).length > 0) continue;
    const near = closest(agent, known.keys());
    const advice = near ? `did you mean ${near}?` : 'the key works once a worker has this agent';
    note(printable(`no worker has had an agent ${agent}: ${advice}`), { level: 'warn' });
  }
}

const parts = (text: string): string[] => text.split(',');

function showMinted({ id, key }: { id: string; key: string }): void {
  note(`${id}; the key is shown only once:`);
  print(key);
}

function line({ id, name, scopes, tenant, agents, threadPrefix, expiresAt, revokedAt }: ApiKey): string {
  const bounds = [
    tenant && `tenant ${tenant}`,
    agents && `agents ${agents.join(',')}`,
    threadPrefix && `threads ${threadPrefix}…`,
    revokedAt ? 'revoked' : expiresAt && `until ${expiresAt.toISOString()}`,
  ].filter(Boolean);
  return oneLine([id, scopes.join(','), JSON.stringify(name), ...bounds].join('  '));
}
