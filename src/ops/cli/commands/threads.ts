import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { connect, subcommand, withLanefold } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, wholeNumber, parseJsonObject, type ConnectionOptions } from '../options.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { ThreadSummary } from '../../../runs/operations/threads/types.ts';
import type { Threads } from '../../../runs/operations/threads/methods.ts';
import { table, note, print, printJson } from '../output.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { ThreadSource } from '../../../runs/operations/threads/import.ts';
import type { ImportReceipt } from '../../../runs/operations/threads/types.ts';
import { Exit, exitCodes, UsageError } from '../errors.ts';
import { openLangGraph, readJson, readLines } from '../read-file.ts';

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
    .description('Lists, exports and imports threads.');
  addList(threads);
  addThreadsExport(threads);
  addThreadsImport(threads);
  return threads;
}

const addList = (threads: Command): Command =>
  subcommand(threads, 'list', 'list threads, newest first')
    .option('--text <words>', 'only threads in which users wrote these words, as in a web search')
    .option('--agent <name>', 'only threads whose latest run has this agent')
    .option('--limit <n>', 'maximum number of threads', wholeNumber(1, 1_000), 20)
    .option('--after <cursor>', 'continue after a page, with the cursor it printed')
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

interface ImportFlags extends ConnectionOptions {
  from: ThreadSource['format'];
  id?: string;
  metadata?: JsonObject;
  tenant?: string;
  thread?: string;
  schema: string;
  channel?: string;
  json?: boolean;
}

const formats: ThreadSource['format'][] = ['lanefold', 'openai', 'ai-sdk', 'langgraph'];

export const addThreadsImport = (threads: Command): Command =>
  subcommand(threads, 'import', 'create a thread from an export, or from the history of another framework')
    .argument('<source>', 'a file, - for stdin; for langgraph, the URL of its PostgreSQL')
    .addOption(new Option('--from <format>', 'what the source is').choices(formats).makeOptionMandatory())
    .option('--id <id>', 'id of the thread; default: the one in the source, or a new one')
    .option('--metadata <json>', 'metadata of the thread; default: that in the source', parseJsonObject)
    .option('--tenant <id>', 'tenant of the thread')
    .option('--thread <id>', 'langgraph: only this thread; default: all')
    .option('--schema <name>', 'langgraph: schema of its tables', 'public')
    .option('--channel <name>', 'langgraph: channel with the messages; default: messages')
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold threads import --from lanefold support-42.jsonl',
          'lanefold threads import --from openai items.json --id support-42',
          'lanefold threads import --from langgraph postgres://localhost/app --thread 42',
        ],
        ['DATABASE_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action((source: string, options: ImportFlags) =>
      withLanefold(options, ({ threads, forTenant }) => {
        const into = options.tenant === undefined ? threads : forTenant(options.tenant).threads;
        return options.from === 'langgraph'
          ? importLangGraph(into, source, options)
          : importFile(into, source, options);
      }),
    );

async function importFile(threads: Threads, file: string, options: ImportFlags): Promise<void> {
  for (const name of ['thread', 'channel'] as const) {
    if (options[name] !== undefined) throw new UsageError(`--${name} is for --from langgraph.`, 'Leave it out.');
  }
  const source: ThreadSource =
    options.from === 'lanefold'
      ? { format: 'lanefold', lines: readLines(file) }
      : options.from === 'openai'
        ? { format: 'openai', items: await readJson(file) }
        : { format: 'ai-sdk', messages: await readJson(file) };
  const { id, metadata } = options;
  show(await threads.import(source, omitUndefined({ id, metadata })), options);
}

/** Each thread in its own transaction: one that is refused does not keep the others from being imported. */
async function importLangGraph(threads: Threads, url: string, options: ImportFlags): Promise<void> {
  const { id, metadata, channel, thread } = options;
  if (id !== undefined && thread === undefined)
    throw new UsageError('--id names one thread.', 'Pass --thread too, or leave --id out.');
  const { checkpointer, threadIds, close } = await openLangGraph(url, options.schema);
  let refused = 0;
  try {
    for (const threadId of thread === undefined ? await threadIds() : [thread]) {
      const source = { format: 'langgraph' as const, checkpointer, threadId, ...omitUndefined({ channel }) };
      try {
        show(await threads.import(source, omitUndefined({ id, metadata })), options);
      } catch (error) {
        if (thread !== undefined || !isLanefoldError(error)) throw error;
        refused += 1;
        note(`${threadId}: ${error.message} [${error.code}]`);
      }
    }
  } finally {
    await close();
  }
  if (refused > 0) throw new Exit(exitCodes.failed);
}

function show(receipt: ImportReceipt, { json }: ImportFlags): void {
  if (json) return printJson(snakeKeys({ ...receipt }));
  print(`${receipt.id}: ${receipt.rev} entries${receipt.duplicate ? ', already imported' : ''}`);
  for (const { outcome, where, what } of receipt.notes) note(`${outcome.replace('_', ' ')}: ${where}: ${what}`);
}
