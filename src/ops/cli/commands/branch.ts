import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { BranchReceipt } from '../../../database/store/branch/types.ts';
import { chooseAgent, loadAgentsFile } from '../agents-file.ts';
import { connect, withLanefold } from '../connect.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withAgents, withDatabase, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { print, printJson, table } from '../output.ts';

interface Options extends ConnectionOptions {
  after: number;
  input?: string;
  again?: boolean;
  agents?: string;
  agent?: string;
  lane?: string;
  name?: string;
  show: boolean;
  key?: string;
  busy?: 'reject' | 'wait' | 'interrupt';
  json?: boolean;
}

export const addBranch = (program: Command): Command =>
  withJson(withAgents(withQueue(program.command('branch'))))
    .argument('<thread>', 'thread id')
    .requiredOption('--after <seq>', 'last entry whose context the branch has; -1: none', wholeNumber(-1))
    .option('--input <text>', 'ask this on the branch')
    .option('--again', 'answer the question that --after names once more')
    .option('--agent <name>', 'agent to ask; required if the agents file has several')
    .option('--lane <ref>', 'lane to leave; default: the lane that has the entry')
    .option('--name <ref>', 'name of the new lane; default: that of the other lane with a number')
    .option('--no-show', 'keep the active lane of the thread')
    .option('--key <id>', 'a second command with this id returns the same branch')
    .addOption(
      new Option('--busy <what>', 'if the thread has an active run: fail (default), wait for it, or cancel it').choices(
        ['reject', 'wait', 'interrupt'],
      ),
    )
    .summary('edit a question or get another answer, on a new lane')
    .description(
      'Makes a lane that begins with the context after an entry, and shows it; the other lane stays. With --input or --again, it ' +
        'enqueues a run on the branch. A worker that knows the agent executes it; follow it with `lanefold tail`.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold branch support-42 --after 17',
          'lanefold branch support-42 --after 17 --input "And in English?" --agents agents.ts',
          'lanefold branch support-42 --after 18 --again --agents agents.ts',
        ],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_AGENTS', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, options: Options) => {
      const { after: afterSeq, input, again, lane: contextRef, name: lane, show, key: opId, busy } = options;
      if (input !== undefined && again) {
        throw new UsageError('--input asks something else, and --again the same.', 'Pass one of the two.');
      }
      const asks = input !== undefined || again === true;
      const { schedules: _, ...definition } = asks
        ? await loadAgentsFile(options.agents)
        : { agents: [], schedules: undefined };
      const agent = asks ? chooseAgent(definition, options.agent, options.agents).name : undefined;
      const lanefold = await connect(options, { start: false, ...definition });
      try {
        const made = await lanefold.threads.branch(threadId, {
          afterSeq,
          show,
          ...omitUndefined({ agent, input, contextRef, lane, opId, busy }),
        });
        if (options.json) return printJson(toJson(made));
        print(`${made.contextRef} begins after entry ${made.parent.afterSeq} of ${made.parent.contextRef}`);
        if (made.run) print(`${made.run.id} is ${made.run.status}`);
      } finally {
        await lanefold.close();
      }
    });

const toJson = ({ parent, run, ...made }: BranchReceipt) => ({
  ...snakeKeys({ ...made }),
  parent: snakeKeys({ ...parent }),
  run: run && snakeKeys({ ...run }),
});

export const addBranches = (program: Command): Command =>
  withJson(withDatabase(program.command('branches')))
    .argument('<thread>', 'thread id')
    .summary('list the lanes of a thread as a tree')
    .description(
      'Lists the lanes of a thread, which lane each branch left and after which entry, and which lane is shown.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold branches support-42'], ['DATABASE_URL', 'LANEFOLD_READ_URL', 'LANEFOLD_DIR']),
    )
    .action((threadId: string, options: ConnectionOptions & { json?: boolean }) =>
      withLanefold(options, async ({ threads }) => {
        const found = await threads.branches(threadId);
        if (options.json) return printJson({ data: found.map((lane) => snakeKeys({ ...lane })) });
        const rows = found.map(({ contextRef, parentContextRef, branchedAfterSeq, lastSeq, shown }) => [
          contextRef,
          parentContextRef === null ? '' : `${parentContextRef} after ${branchedAfterSeq}`,
          lastSeq,
          shown ? 'shown' : '',
        ]);
        print(table(['lane', 'branch of', 'last entry', ''], rows).join('\n'));
      }),
    );
