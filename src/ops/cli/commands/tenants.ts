import { type Command } from 'commander';
import type { KeyLimits } from '../../../base/access/principal.ts';
import { actor, wholeNumber, type ConnectionOptions } from '../options.ts';
import { subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { note, print, printJson } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean };

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;

/** Sets the limits that all keys of a tenant share. */
export function addTenants(program: Command): Command {
  const tenants = program
    .command('tenants')
    .summary('set the limits and tamper evidence of tenants')
    .description('Sets the limits and tamper evidence of tenants. To create a tenant, create its first thread.');

  subcommand(tenants, 'limit', 'replace the limits of a tenant; without options, remove them')
    .argument('<tenant>', 'id of the tenant')
    .option('--runs <n>', 'maximum number of runs that have not ended', wholeNumber(1))
    .option('--requests-per-minute <n>', 'maximum requests per minute, in each API process', wholeNumber(1))
    .option('--streams <n>', 'maximum open event streams, in each API process', wholeNumber(1))
    .option('--body-bytes <n>', 'maximum bytes of a request body', wholeNumber(1))
    .addHelpText('after', commandHelp(['lanefold tenants limit acme --runs 20 --streams 50'], [...environment]))
    .action((tenant: string, { runs, requestsPerMinute, streams, bodyBytes, ...options }: Options & KeyLimits) =>
      withLanefold(options, async ({ tenants }) => {
        const given = { runs, requestsPerMinute, streams, bodyBytes };
        const limits = JSON.parse(JSON.stringify(given)) as KeyLimits;
        await tenants.configure(tenant, { limits }, { by: actor() });
        if (options.json) printJson({ tenant, limits });
        else print(line(tenant, limits));
      }),
    );

  subcommand(tenants, 'chain', 'make threads that a tenant creates from now on tamper-evident')
    .argument('<tenant>', 'id of the tenant')
    .option('--off', 'stop doing so')
    .addHelpText('after', commandHelp(['lanefold tenants chain acme'], [...environment]))
    .action((tenant: string, { off, ...options }: Options & { off?: boolean }) =>
      withLanefold(options, async ({ tenants }) => {
        await tenants.configure(tenant, { chained: !off }, { by: actor() });
        if (options.json) printJson({ tenant, chained: !off });
        else print(`${tenant}: new threads ${off ? 'have no' : 'have a'} chain`);
      }),
    );

  subcommand(tenants, 'list', 'list the tenants that have limits or tamper evidence')
    .addHelpText('after', commandHelp(['lanefold tenants list --json'], [...environment]))
    .action((options: Options) =>
      withLanefold(options, async ({ tenants }) => {
        const found = await tenants.list();
        if (options.json) return printJson(found);
        if (found.length === 0) return note('no tenant has limits or tamper evidence; see `lanefold tenants --help`');
        for (const { tenant, limits, chained } of found) print(line(tenant, limits) + (chained ? '  chained' : ''));
      }),
    );
  return tenants;
}

const line = (tenant: string, limits: KeyLimits): string => {
  const bounds = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return [tenant, ...(bounds.length > 0 ? bounds : ['no limits'])].join('  ');
};
