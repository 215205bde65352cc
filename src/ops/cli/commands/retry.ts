import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Runs } from '../../../runs/operations/runs/runs.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

interface Options extends ConnectionOptions, NonNullable<Parameters<Runs['retry']>[1]> {
  json?: boolean;
}

export const addRetry = (program: Command): Command =>
  withJson(withQueue(program.command('retry')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .option('--model <id>', 'model to use instead of the run’s')
    .option('--fresh-children', 'ask other agents again, instead of taking the answers that they gave the run')
    .addOption(
      new Option('--busy <what>', 'if the thread has an active run: fail (default), wait for it, or cancel it').choices(
        ['reject', 'wait', 'interrupt'],
      ),
    )
    .summary('ask an ended run’s question again, on its lane as the lane is now')
    .description(
      'Enqueues a new run of the same agent with the same input and options, on the lane as it is now. A worker that ' +
        'knows the agent executes it; follow it with `lanefold tail`.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold retry support-42 run_01k7…', 'lanefold retry support-42 run_01k7… --model openai:gpt-5 --busy wait'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const { model, busy, freshChildren } = options;
        const run = await lanefold.runs.retry({ threadId, id }, omitUndefined({ model, busy, freshChildren }));
        if (options.json) return printJson(snakeKeys({ ...run }));
        print(`${run.id} is ${run.status}`);
      } finally {
        await lanefold.close();
      }
    });
