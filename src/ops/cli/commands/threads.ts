import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, type ConnectionOptions, wholeNumber, withJson } from '../options.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { ThreadSummary } from '../../../runs/operations/threads/types.ts';
import { table, note, print, printJson } from '../output.ts';
import { addThreadsImport } from './threads-import.ts';

const addThreadsExport = (threads: Command): Command =>
  withDatabase(threads.command('export'))
    .argument('<thread>', 'thread id')
    .summary('write a thread as JSON Lines')
    .description(
      'Writes a thread to stdout, one JSON object per line: its entries, the large texts they quote, its runs, and hashes. ' +
        '`lanefold threads import --from lanefold` reads it.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold threads export support-42 > support-42.jsonl'], ['DATABASE_URL', 'LANEFOLD_DIR']),
    )
    .action(async (thread: string, options: ConnectionOptions) => {
      const lanefold = await connect(options, { start: false });
      try {
        await pipeline(Readable.from(withBreaks(lanefold.threads.export(thread))), process.stdout, { end: false });
      } finally {
        await lanefold.close();
      }
    });

async function* withBreaks(lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const line of lines) yield `${line}\n`;
}

interface Options extends ConnectionOptions {
  text?: string;
  agent?: string;
  limit: number;
  after?: string;
  json?: boolean;
}

export function addThreads(program: Command): Command {
  const threads = program
    .command('threads')
    .summary('list, export and import threads')
    .description('Lists, exports and imports threads. Without a command, lists them, newest first.');
  addList(threads);
  addThreadsExport(threads);
  addThreadsImport(threads);
  return threads;
}

const addList = (threads: Command): Command =>
  withJson(withDatabase(threads.command('list', { isDefault: true })))
    .option('--text <words>', 'only threads in which users wrote these words, as in a web search')
    .option('--agent <name>', 'only threads whose latest run has this agent')
    .option('--limit <n>', 'maximum number of threads', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'continue after a page, with the cursor it printed')
    .summary('list threads, newest first')
    .description('Lists threads with their latest run.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold threads', 'lanefold threads --text "order A-17" --json'],
        ['DATABASE_URL', 'LANEFOLD_READ_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async ({ text, agent, limit, after, ...options }: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const filter = Object.entries({ text, agent, after }).filter(([, value]) => value !== undefined);
        const { data, nextAfter } = await lanefold.threads.list({ ...Object.fromEntries(filter), limit });
        if (options.json)
          return printJson({ data: data.map((thread) => snakeKeys({ ...thread })), next_after: nextAfter });
        print(table(['created', 'thread', 'entries', 'latest run'], data.map(toRow)).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      } finally {
        await lanefold.close();
      }
    });

const toRow = (thread: ThreadSummary): unknown[] => [
  thread.createdAt.toISOString(),
  thread.id,
  thread.rev,
  thread.lastRun ? `${thread.lastRun.status} ${thread.lastRun.agent}` : '',
];
