import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

/** Runs that are listed one by one. */
const shown = 20;

export const addRecover = (program: Command): Command =>
  withJson(withQueue(program.command('recover')))
    .summary('continue after the database was restored from a backup')
    .description(
      'Brings the queue in line with a database that was restored from a backup. Stop ' +
        'all processes first. Empties the queue and queues every unfinished run again, from the step that the backup has, with ' +
        'the event database_restored in its trace: what a run did after the backup is unknown, so it may do it again. ' +
        'Lists the runs that the queue knew and the backup does not have.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold recover', 'lanefold recover --json'],
        ['DATABASE_URL', 'LANEFOLD_DIRECT_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (options: ConnectionOptions & { json?: boolean }) => {
      const lanefold = await connect(options, { start: true });
      try {
        const { runs, queued, gone } = await lanefold.recover();
        if (options.json) return printJson({ runs, queued, gone: gone.map((run) => snakeKeys({ ...run })) });
        print(`${runs} unfinished runs, of which ${queued} are queued again`);
        if (gone.length === 0) return;
        print(`${gone.length} runs were accepted after the backup and are gone:`);
        for (const { threadId, id } of gone.slice(0, shown)) print(`  ${threadId}  ${id}`);
        if (gone.length > shown) print(`  … and ${gone.length - shown} more: --json lists them`);
      } finally {
        await lanefold.close();
      }
    });
