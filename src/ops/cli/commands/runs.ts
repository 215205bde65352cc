import type { RunStatus } from '../../../database/store/run/types.ts';
import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import type { Run } from '../../../database/store/run/run.ts';
import { connect } from '../connect.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, wholeNumber, withJson, type ConnectionOptions } from '../options.ts';

interface Options extends ConnectionOptions {
  status?: RunStatus;
  agent?: string;
  limit: number;
  after?: string;
  json?: boolean;
}

const statuses: RunStatus[] = ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'];

export const addRuns = (program: Command): Command =>
  withJson(withDatabase(program.command('runs')))
    .argument('[thread]', 'thread id, to list only its runs')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(statuses))
    .option('--agent <name>', 'only runs of this agent')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'continue after a page, with the cursor it printed')
    .summary('list runs, newest first')
    .description('Lists the runs of a thread, or of all threads.')
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

const toRow = (run: Run): string[] => [
  run.createdAt.toISOString(),
  run.status,
  run.agent,
  run.threadId,
  run.id,
  run.error?.type ?? '',
];
