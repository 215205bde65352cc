import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { connect } from '../connect.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  lane?: string;
  from?: number;
  to?: number;
  keepTurns?: number;
  agent?: string;
  model?: string;
  json?: boolean;
}

export const addCompact = (program: Command): Command =>
  withJson(withQueue(program.command('compact')))
    .argument('<thread>', 'thread id')
    .option('--lane <ref>', 'lane to compact; default: the thread’s active lane')
    .option('--from <seq>', 'first entry to summarise; requires --to', wholeNumber(0))
    .option('--to <seq>', 'last entry to summarise; requires --from', wholeNumber(0))
    .option(
      '--keep-turns <n>',
      'how many of the newest turns to keep; default: as the context policy says',
      wholeNumber(0, 10_000),
    )
    .option('--agent <name>', 'agent that summarises; default: the agent of the lane’s latest run')
    .option('--model <id>', 'model that summarises; default: the model of the lane’s latest run')
    .summary('have a model summarise the older part of a lane')
    .description(
      'Enqueues a compaction: a run that replaces the older messages of a lane with a summary. A worker that knows the agent ' +
        'executes it; follow it with `lanefold tail`.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold compact support-42', 'lanefold compact support-42 --from 0 --to 120'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, options: Options) => {
      const { lane: contextRef, from: fromSeq, to: toSeq, keepTurns, agent, model } = options;
      if ((fromSeq === undefined) !== (toSeq === undefined))
        throw new UsageError(
          'Pass both --from and --to, or neither.',
          'Without them, the run summarises all but the newest turns.',
        );
      const lanefold = await connect(options, { start: false });
      try {
        const range = fromSeq === undefined || toSeq === undefined ? undefined : { fromSeq, toSeq };
        const asked = omitUndefined({ contextRef, range, keepTurns, agent, model });
        const run = await lanefold.contexts.compact(threadId, asked);
        if (options.json) return printJson(snakeKeys({ ...run }));
        print(`${run.id} is ${run.status}`);
      } finally {
        await lanefold.close();
      }
    });
