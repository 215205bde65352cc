import type { Command } from 'commander';
import type { DecisionOptions } from '../../library/approvals.ts';
import type { CallRef } from '../../store/approval/decide-tool-call.ts';
import { connect } from '../connect.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';
import { snakeKeys } from '../../case.ts';

interface Options extends ConnectionOptions, DecisionOptions {
  json?: boolean;
}

export const addApprove = (program: Command): Command =>
  addDecision(program, 'approve', 'let a tool call run that waits for approval');

export const addDeny = (program: Command): Command =>
  addDecision(program, 'deny', 'refuse a tool call that waits for approval');

const addDecision = (program: Command, word: 'approve' | 'deny', summary: string): Command =>
  withJson(withQueue(program.command(word)))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .argument('<call>', 'round and index of the call, as 1.0')
    .option('--by <name>', 'who decides, for the log')
    .option('--reason <text>', 'why; the model is told the reason of a denial')
    .summary(summary)
    .description(
      'Decides on one tool call of a suspended run. The first decision counts; the run goes on, in any worker that knows ' +
        'its agent, when every call of the round is decided.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [`lanefold ${word} THREAD RUN 1.0`, `lanefold ${word} THREAD RUN 1.0 --by ada --reason "as agreed"`],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, call: string, options: Options) => {
      const place = toPlace(call);
      const lanefold = await connect(options, { start: false });
      try {
        const { by, reason } = options;
        const how = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
        const receipt = await lanefold.runs[word]({ threadId, id }, place, how);
        if (options.json) return printJson(snakeKeys({ threadId, runId: id, call, ...receipt }));
        print(`${call} is ${receipt.decision}${receipt.duplicate ? ' already' : ''}; the run is ${receipt.status}`);
      } finally {
        await lanefold.close();
      }
    });

function toPlace(call: string): CallRef {
  const match = /^(\d{1,4})\.(\d{1,4})$/.exec(call);
  if (match) return { round: Number(match[1]), index: Number(match[2]) };
  throw new UsageError(`${JSON.stringify(call)} names no tool call.`, 'Give its round and its index, as 1.0.');
}
