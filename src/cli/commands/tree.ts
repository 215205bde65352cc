import type { Command } from 'commander';
import { treeToJson } from '../../api/run-json.ts';
import type { RunTree, TreeRun } from '../../library/runs/tree.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

export const addTree = (program: Command): Command =>
  withJson(withDatabase(program.command('tree')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'id of any run of the tree')
    .summary('show the runs that the tool calls of a run have started')
    .description('Shows a run and the runs that its tool calls and theirs have started, with states, waits and costs.')
    .addHelpText('after', commandHelp(['lanefold tree orders-42 run_01k7…'], ['DATABASE_URL', 'LANEFOLD_DIR']))
    .action(async (threadId: string, id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const tree = await lanefold.runs.tree({ threadId, id });
        if (options.json) return printJson(treeToJson(tree));
        print(linesOf(tree).join('\n'));
      } finally {
        await lanefold.close();
      }
    });

function linesOf({ runs, cost, usage }: RunTree): string[] {
  const lines = runs.map((run) => `${'  '.repeat(run.depth)}${lineOf(run)}`);
  const tokens = (usage?.['input_tokens'] ?? 0) + (usage?.['output_tokens'] ?? 0);
  return [...lines, `in all: ${tokens} tokens${cost === null ? '' : `, $${cost.toFixed(4)}`}`];
}

function lineOf({ agent, status, id, threadId, waits, cost, error }: TreeRun): string {
  const what = waits.map(({ kind, event, name }) => `${name} waits for ${event ?? kind}`).join(', ');
  const notes = [what, error?.type ?? '', cost === null ? '' : `$${cost.toFixed(4)}`].filter((note) => note !== '');
  return `${agent} ${status}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}  ${threadId} ${id}`;
}
