import type { Command } from 'commander';
import { findDatabase } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';

export const addMigrate = (program: Command): Command =>
  withJson(withQueue(program.command('migrate')))
    .option('--distribute', 'distribute a database with threads over the nodes of Citus; stop all processes first')
    .summary('migrate the database to the schema of this version')
    .description(
      'Migrates the database to the schema of this version: tables, functions, views and triggers, and the tables of the ' +
        'queue unless it is in Redis. Safe to repeat, and to run from several processes concurrently.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold migrate --database-url postgresql://localhost/app', 'lanefold migrate --json'],
        ['DATABASE_URL', 'LANEFOLD_DIRECT_URL', 'REDIS_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (options: ConnectionOptions & { json?: boolean; distribute?: boolean }) => {
      const { migrate } = await import('../../../database/store/schema/migrate.ts');
      const database = await findDatabase(options, { start: true });
      try {
        const result = await migrate(database.directUrl, {
          queueTables: !options.redisUrl,
          onBlocked: note,
          distribute: options.distribute ?? false,
        });
        if (options.json) return printJson(result);
        const messages = {
          migrated: `migrated from schema ${result.from} to ${result.to}`,
          current: `the database is already at schema ${result.to}; nothing to do`,
          newer: `the database is at schema ${result.to}, newer than this version; nothing was changed`,
        };
        print(messages[result.status]);
        if (result.undistributed) {
          note(
            'the database has Citus, and its threads are on this node alone: to distribute them, stop all processes and run lanefold migrate --distribute',
          );
        }
      } finally {
        await database.release();
      }
    });

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
      const { rolesSql } = await import('../../../database/store/role/session-rights.ts');
      print(rolesSql(prefix, tenant ?? '*'));
    });
