import type { TreeRun } from '../../../database/store/run/types.ts';
import type { RunTree } from '../../../runs/operations/runs/types.ts';
import type { Command } from 'commander';
import { treeToJson } from '../../../server/run-json.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, type ConnectionOptions } from '../options.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { printable } from '../../../base/log/logger.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { note, print, printJson } from '../output.ts';
import { itemToJson, TreeText } from '../show-run.ts';
import { stopSignal } from '../exit.ts';

interface Options extends ConnectionOptions {
  follow?: boolean;
  json?: boolean;
}

export const addTree = (program: Command): Command =>
  withJson(withQueue(program.command('tree')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'id of any run of the tree')
    .option('--follow', 'follow the run and those below it live, each line with its agent, until all have ended')
    .summary('show the runs that the tool calls of a run have started')
    .description('Shows a run and the runs that its tool calls and theirs have started, with states, waits and costs.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold tree orders-42 run_01k7…', 'lanefold tree orders-42 run_01k7… --follow'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async (threadId: string, id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        if (options.follow) return await follow(lanefold, { threadId, id }, options);
        const tree = await lanefold.runs.tree({ threadId, id });
        if (options.json) return printJson(treeToJson(tree));
        print(linesOf(tree).join('\n'));
      } finally {
        await lanefold.close();
      }
    });

async function follow(lanefold: Lanefold, run: RunRef, { json }: Options): Promise<void> {
  const stop = new AbortController();
  void stopSignal().then(() => stop.abort());
  const text = new TreeText(await lanefold.runs.get(run));
  const { items } = await lanefold.streams.openTree(run, { entries: !json, signal: stop.signal });
  for await (const one of items) {
    if (json) printJson({ ...itemToJson(one.item), thread_id: one.run.threadId, run_id: one.run.id });
    else if (one.item.type === 'unattended') note(printable(one.item.message));
    else process.stdout.write(text.of(one));
  }
}

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
