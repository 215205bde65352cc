import type { Command } from 'commander';
import { connect } from '../connect.ts';
import { checkCall, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { commandHelp } from '../help.ts';
import { print, printJson } from '../output.ts';
import { snakeKeys } from '../../../base/common/case.ts';

interface Options extends ConnectionOptions {
  by?: string;
  reason?: string;
  json?: boolean;
}

export const addApprove = (program: Command): Command => addDecision(program, 'approve', 'approve a pending tool call');

export const addDeny = (program: Command): Command => addDecision(program, 'deny', 'deny a pending tool call');

const addDecision = (program: Command, word: 'approve' | 'deny', summary: string): Command =>
  withJson(withQueue(program.command(word)))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .argument('<call>', 'round and index of the call, such as 1.0')
    .option('--by <name>', 'who made the decision, for the log')
    .option('--reason <text>', 'reason for the decision; the model sees the reason for a denial')
    .summary(summary)
    .description(
      'Decides one tool call of a suspended run. The first decision counts. Once every call of the round is decided, the ' +
        'run continues on any worker that knows its agent.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [`lanefold ${word} THREAD RUN 1.0`, `lanefold ${word} THREAD RUN 1.0 --by ada --reason "as agreed"`],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, call: string, options: Options) => {
      checkCall(call);
      const lanefold = await connect(options, { start: false });
      try {
        const { by, reason } = options;
        const how = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
        const receipt = await lanefold.runs[word]({ threadId, id }, call, how);
        if (options.json) return printJson(snakeKeys({ ...receipt }));
        print(`${call} ${receipt.duplicate ? 'was already' : 'is'} ${receipt.decision}; the run is ${receipt.status}`);
      } finally {
        await lanefold.close();
      }
    });
