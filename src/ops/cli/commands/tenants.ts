import type { Command } from 'commander';
import type { KeyLimits } from '../../../base/access/principal.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { tenants } from '../../../runs/operations/fleet/declaration.ts';
import { operationCommand } from '../operation-command.ts';
import { wholeNumber } from '../options.ts';
import { note, print } from '../output.ts';

const settings = { arguments: ['id of the tenant'], without: ['limits', 'chained'] };

/** Sets the limits that all keys of a tenant share. */
export function addTenants(program: Command): Command {
  const group = program
    .command('tenants')
    .summary('set the limits and tamper evidence of tenants')
    .description('Sets the limits and tamper evidence of tenants. To create a tenant, create its first thread.');

  operationCommand(group, tenants, 'configure', {
    ...settings,
    name: 'limit',
    summary: 'replace the limits of a tenant; without options, remove them',
    examples: ['lanefold tenants limit acme --runs 20 --streams 50'],
    more: {
      add: (command) =>
        command
          .option('--runs <n>', 'maximum number of runs that have not ended', wholeNumber(1))
          .option('--requests-per-minute <n>', 'maximum requests per minute, in each API process', wholeNumber(1))
          .option('--streams <n>', 'maximum open event streams, in each API process', wholeNumber(1))
          .option('--body-bytes <n>', 'maximum bytes of a request body', wholeNumber(1)),
      fields({ runs, requestsPerMinute, streams, bodyBytes }) {
        return { limits: omitUndefined({ runs, requestsPerMinute, streams, bodyBytes }) };
      },
    },
    show: ({ tenant, limits }) => print(line(tenant, limits)),
  });

  operationCommand(group, tenants, 'configure', {
    ...settings,
    name: 'chain',
    summary: 'make threads that a tenant creates from now on tamper-evident',
    examples: ['lanefold tenants chain acme'],
    more: {
      add: (command) => command.option('--off', 'do not chain new threads any more'),
      fields: ({ off }) => ({ chained: !off }),
    },
    show: ({ tenant, chained }) => print(`${tenant}: new threads ${chained ? 'have a' : 'have no'} chain`),
  });

  operationCommand(group, tenants, 'list', {
    summary: 'list the tenants that have limits or tamper evidence',
    examples: ['lanefold tenants list --json'],
    show(found) {
      if (found.length === 0) note('no tenant has limits or tamper evidence; see `lanefold tenants --help`');
      for (const { tenant, limits, chained } of found) print(line(tenant, limits) + (chained ? '  chained' : ''));
    },
  });
  return group;
}

const line = (tenant: string, limits: KeyLimits): string => {
  const bounds = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return [tenant, ...(bounds.length > 0 ? bounds : ['no limits'])].join('  ');
};
