import { Option, type Command } from 'commander';
import { scopes, type KeyLimits, type Scope } from '../../../base/access/principal.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { oneLine } from '../../../base/log/logger.ts';
import { actor, duration, wholeNumber, type ConnectionOptions } from '../options.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { note, print, printJson } from '../output.ts';
import type { ApiKey } from '../../../database/store/access/api-keys.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

interface CreateOptions extends Options {
  name: string;
  scopes: Scope[];
  tenant?: string;
  agents?: string[];
  threadPrefix?: string;
  expires?: number;
  requestsPerMinute?: number;
  runs?: number;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Manages the API keys of a database. Access to the database is enough to make keys for it. */
export function addKeys(program: Command): Command {
  const keys = program
    .command('keys')
    .summary('create, list, rotate and revoke API keys')
    .description('Manages API keys. A key says what a caller may do, and with which agents and threads.');

  subcommand(keys, 'create', 'create a key, which is shown only once')
    .requiredOption('--name <text>', 'what the key is for')
    .addOption(
      new Option('--scopes <list>', `comma-separated, from ${scopes.join(', ')}`)
        .argParser((text) => text.split(','))
        .makeOptionMandatory(),
    )
    .option('--tenant <tenant>', 'only threads of this tenant')
    .option(
      '--agents <list>',
      'only runs of these agents, in threads where no other agent has run; comma-separated',
      (text: string) => text.split(','),
    )
    .option('--thread-prefix <text>', 'only threads whose ids begin with this')
    .option('--expires <duration>', 'lifetime, such as 30d or 12h; default: unlimited', duration)
    .option('--runs <n>', 'maximum number of runs of this key that have not ended', wholeNumber(1))
    .option('--requests-per-minute <n>', 'maximum requests per minute, in each API process', wholeNumber(1))
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold keys create --name desk --scopes read,run,steer --agents support --expires 90d',
          'lanefold keys create --name acme --scopes admin,read,run --tenant acme',
          'lanefold keys create --name reviewer --scopes read,approve',
        ],
        [...environment],
      ),
    )
    .action(
      ({ name, scopes, tenant, agents, threadPrefix, expires, requestsPerMinute, runs, ...options }: CreateOptions) =>
        withLanefold(options, async ({ keys }) => {
          const minted = await keys.create({
            name,
            scopes,
            by: actor(),
            ...(tenant === undefined ? {} : { tenant }),
            ...(agents === undefined ? {} : { agents }),
            ...(threadPrefix === undefined ? {} : { threadPrefix }),
            ...(expires === undefined ? {} : { expiresInMs: expires }),
            ...(requestsPerMinute === undefined && runs === undefined
              ? {}
              : { limits: limitsOf(requestsPerMinute, runs) }),
          });
          show(options, minted);
        }),
    );

  subcommand(keys, 'list', 'list the keys, without their secrets')
    .addHelpText('after', commandHelp(['lanefold keys list', 'lanefold keys list --json'], [...environment]))
    .action((options: Options) =>
      withLanefold(options, async ({ keys }) => {
        const found = await keys.list();
        if (options.json) return printJson(found.map(snakeKeys));
        if (found.length === 0) return note('there are no keys; create one with `lanefold keys create`');
        for (const key of found) print(line(key));
      }),
    );

  subcommand(keys, 'rotate', 'give a key a new secret; the old one keeps working for a while')
    .argument('<key>', 'id of the key')
    .addOption(
      new Option('--overlap <duration>', 'how long the old secret keeps working')
        .argParser(duration)
        .default(3_600_000, '1h'),
    )
    .addHelpText('after', commandHelp(['lanefold keys rotate KEY --overlap 1d'], [...environment]))
    .action((id: string, { overlap, ...options }: Options & { overlap: number }) =>
      withLanefold(options, async ({ keys }) =>
        show(options, await keys.rotate(id, { overlapMs: overlap, by: actor() })),
      ),
    );

  subcommand(keys, 'revoke', 'revoke a key; servers notice within ten seconds')
    .argument('<key>', 'id of the key')
    .addHelpText('after', commandHelp(['lanefold keys revoke KEY'], [...environment]))
    .action((id: string, options: Options) =>
      withLanefold(options, async ({ keys }) => {
        await keys.revoke(id, { by: actor() });
        if (options.json) printJson({ id, revoked: true });
        else print(`${id} is revoked`);
      }),
    );
  return keys;
}

const limitsOf = (requestsPerMinute: number | undefined, runs: number | undefined): KeyLimits => ({
  ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
  ...(runs === undefined ? {} : { runs }),
});

function show({ json }: Options, minted: { id: string; key: string }): void {
  if (json) return printJson(minted);
  note(`${minted.id}; the key is shown only once:`);
  print(minted.key);
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
