import type { Command } from 'commander';
import { commandHelp } from '../help.ts';
import { print } from '../output.ts';

export const addRoles = (program: Command): Command =>
  program
    .command('roles')
    .summary('print the SQL that creates a database role for each duty')
    .description(
      'Prints the SQL that creates a database role for each duty: migrator, worker, api and reader. Execute it as the owner ' +
        'of the schema, after the first `lanefold migrate`. The roles have no passwords yet.',
    )
    .option('--prefix <name>', 'prefix of the role names', 'lanefold')
    .option('--tenant <tenant>', 'tenant whose rows the reader may see; default: all')
    .addHelpText(
      'after',
      commandHelp(['lanefold roles | psql "$OWNER_URL"', 'lanefold roles --prefix shop --tenant acme'], []),
    )
    .action(async ({ prefix, tenant }: { prefix: string; tenant?: string }) => {
      const ids: typeof import('../../../base/checks/ids.ts') = await import('../../../base/checks/ids.ts');
      ids.assertId(prefix, 'The prefix');
      if (tenant !== undefined) ids.assertId(tenant, 'The tenant id');
      const { rolesSql } = await import('../../../database/store/role/roles-sql.ts');
      print(rolesSql(prefix, tenant ?? '*'));
    });
