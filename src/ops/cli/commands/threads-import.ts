import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { ImportReceipt, ThreadSource } from '../../../runs/operations/threads/import.ts';
import type { Threads } from '../../../runs/operations/threads/types.ts';
import { Exit } from '../exit.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { openLangGraph, readJson, readLines } from '../read-file.ts';
import { parseJsonObject, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';
import { subcommand, withLanefold } from '../connect.ts';

interface Options extends ConnectionOptions {
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
    .action((source: string, options: Options) =>
      withLanefold(options, ({ threads, forTenant }) => {
        const into = options.tenant === undefined ? threads : forTenant(options.tenant).threads;
        return options.from === 'langgraph'
          ? importLangGraph(into, source, options)
          : importFile(into, source, options);
      }),
    );

async function importFile(threads: Threads, file: string, options: Options): Promise<void> {
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
async function importLangGraph(threads: Threads, url: string, options: Options): Promise<void> {
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

function show(receipt: ImportReceipt, { json }: Options): void {
  if (json) return printJson(snakeKeys({ ...receipt }));
  print(`${receipt.id}: ${receipt.rev} entries${receipt.duplicate ? ', already imported' : ''}`);
  for (const { outcome, where, what } of receipt.notes) note(`${outcome.replace('_', ' ')}: ${where}: ${what}`);
}
