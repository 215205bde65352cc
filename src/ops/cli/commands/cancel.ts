import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  reason?: string;
  json?: boolean;
}

export const addCancel = (program: Command): Command =>
  withJson(withQueue(program.command('cancel')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .option('--reason <text>', 'why, for the log')
    .summary('cancel a run')
    .description(
      'Cancels a run: at once if no worker holds it, otherwise as soon as its worker notices. Has no effect on a run that has ended.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold cancel support-42 run_01k7…', 'lanefold cancel support-42 run_01k7… --reason "asked twice"'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const receipt = await lanefold.runs.cancel({ threadId, id }, options.reason);
        if (options.json) return printJson(snakeKeys({ threadId, runId: id, ...receipt }));
        print(
          receipt.accepted && receipt.status !== 'cancelled'
            ? `the run is ${receipt.status} and will stop`
            : `the run is ${receipt.status}`,
        );
      } finally {
        await lanefold.close();
      }
    });
