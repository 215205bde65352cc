import type { Command } from 'commander';
import { findDatabase } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

export const addMigrate = (program: Command): Command =>
  withJson(withQueue(program.command('migrate')))
    .summary('bring the database to this version’s schema')
    .description(
      'Brings the database to the schema of this version: tables, functions, views, triggers, and the tables of the ' +
        'queue unless it is in Redis. Safe to run again, and from many processes at once.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold migrate --database-url postgresql://localhost/app', 'lanefold migrate --json'],
        ['DATABASE_URL', 'LANEFOLD_DIRECT_URL', 'REDIS_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (options: ConnectionOptions & { json?: boolean }) => {
      const { migrate } = await import('../../store/schema/migrate.ts');
      const database = await findDatabase(options, { start: true });
      try {
        const result = await migrate(database.directUrl, { queueTables: !options.redisUrl });
        if (options.json) return printJson(result);
        const said = {
          migrated: `migrated from schema ${result.from} to ${result.to}`,
          current: `the database is at schema ${result.to} already; nothing to do`,
          newer: `the database is at schema ${result.to}, newer than this version needs; left as it is`,
        };
        print(said[result.status]);
      } finally {
        await database.release();
      }
    });
