import type { RunStatus } from '../../../database/store/run/types.ts';
import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import type { Run } from '../../../database/store/run/run.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { connect, subcommand } from '../connect.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { treeToJson } from '../../../server/run-json.ts';
import type { TreeRun } from '../../../database/store/run/types.ts';
import type { RunTree } from '../../../runs/operations/runs/types.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { printable } from '../../../base/log/logger.ts';
import { addManyRuns } from './many-runs.ts';
import { itemToJson, TreeText } from '../show-run.ts';
import { stopSignal } from '../errors.ts';

interface Options extends ConnectionOptions {
  status?: RunStatus;
  agent?: string;
  limit: number;
  after?: string;
  json?: boolean;
}

const statuses: RunStatus[] = ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'];

export function addRuns(program: Command): Command {
  const group = program
    .command('runs')
    .summary('list runs, newest first')
    .description('Shows runs, and acts on all that a filter selects.');
  subcommand(group, 'list', 'list runs, newest first')
    .argument('[thread]', 'thread id, to list only its runs')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(statuses))
    .option('--agent <name>', 'only runs of this agent')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'continue after a page, with the cursor it printed')
    .description('Lists the runs of a thread, or of all threads, newest first.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold runs', 'lanefold runs --status failed --agent support', 'lanefold runs support-42 --json'],
        ['DATABASE_URL', 'LANEFOLD_READ_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string | undefined, { status, agent, limit, after, ...options }: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const filter = Object.entries({ threadId, status, agent, after }).filter(([, value]) => value !== undefined);
        const { data, nextAfter } = await lanefold.runs.list({ ...Object.fromEntries(filter), limit });
        if (options.json) return printJson({ data: data.map((run) => snakeKeys({ ...run })), next_after: nextAfter });
        print(table(['created', 'status', 'agent', 'thread', 'run', 'error'], data.map(toRow)).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      } finally {
        await lanefold.close();
      }
    });
  addManyRuns(group);
  return group;
}

const toRow = (run: Run): string[] => [
  run.createdAt.toISOString(),
  run.status,
  run.agent,
  run.threadId,
  run.id,
  run.error?.type ?? '',
];

interface TreeFlags extends ConnectionOptions {
  follow?: boolean;
  json?: boolean;
}

export const addTree = (program: Command): Command =>
  withJson(withQueue(program.command('tree')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'id of any run of the tree')
    .option('--follow', 'follow the run and those below it live, each line with its agent, until all have ended')
    .summary('show the runs that the tool calls of a run have started')
    .description('Shows the tree of runs that a run and the runs below it have started, with states, waits and costs.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold tree orders-42 run_01k7…', 'lanefold tree orders-42 run_01k7… --follow'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async (threadId: string, id: string, options: TreeFlags) => {
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

async function follow(lanefold: Lanefold, run: RunRef, { json }: TreeFlags): Promise<void> {
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
