import type { Command } from 'commander';
import type { ThreadEntry } from '../../../database/store/log/types.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withDatabase, withJson, parseJsonObject, type ConnectionOptions } from '../options.ts';
import { colours, note, print, printJson } from '../output.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { printable } from '../../../base/log/logger.ts';
import { inOneLine, messageText } from '../show-run.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { DiffRow } from '../../../database/store/context/types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

interface Options extends ConnectionOptions {
  after: number;
  limit: number;
  json?: boolean;
}

export const addThread = (program: Command): Command =>
  withJson(withDatabase(program.command('thread')))
    .argument('<id>', 'thread id')
    .option('--after <seq>', 'start after this entry', wholeNumber(-1), -1)
    .option('--limit <n>', 'maximum number of entries', wholeNumber(1), 100)
    .summary('show the log of a thread')
    .description('Shows the entries of a thread’s append-only log, one per line.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold thread demo-1', 'lanefold thread demo-1 --after 99 --json'],
        ['DATABASE_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async (id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const thread = await lanefold.threads.get(id);
        const entries = await lanefold.threads.entries(id, { after: options.after, limit: options.limit });
        if (options.json) return printJson({ thread: snakeKeys(thread), entries: entries.map(snakeKeys) });
        const active = thread.activeRunId ? `, run ${thread.activeRunId} active` : '';
        print(`thread ${thread.id}: ${thread.rev} entries, lane ${thread.activeContextRef}${active}`);
        for (const entry of entries) print(line(entry));
        const last = entries.at(-1)?.seq ?? thread.rev;
        if (entries.length === options.limit && last < thread.rev - 1) note(`more: --after ${last}`);
      } finally {
        await lanefold.close();
      }
    });

function line(entry: ThreadEntry): string {
  const c = colours();
  const { kind, payload } = entry;
  const what = kind === 'ai_message' ? c.bold(entry.role ?? 'message') : c.cyan(printable(kind));
  const lane = entry.contextRef && entry.contextRef !== 'default' ? c.dim(` @${entry.contextRef}`) : '';
  const text = kind === 'ai_message' ? messageText(payload) : JSON.stringify(payload);
  const before = `${String(entry.seq).padStart(5)}  ${what}${lane}  `;
  return before + inOneLine(text, process.stdout.isTTY ? (process.stdout.columns || 80) - 24 : 160);
}

interface DiffFlags extends ConnectionOptions {
  lane?: string;
  at?: number;
  otherLane?: string;
  otherAt?: number;
  json?: boolean;
}

export const addDiff = (program: Command): Command =>
  withJson(withDatabase(program.command('diff')))
    .argument('<thread>', 'thread id')
    .argument('[other]', 'thread id of the other context; default: the same thread')
    .option('--lane <ref>', 'lane of the thread; default: its active lane')
    .option('--at <seq>', 'as of this entry, inclusive; default: now', wholeNumber(-1))
    .option('--other-lane <ref>', 'lane of the other context; default: the active lane of its thread')
    .option('--other-at <seq>', 'the other context as of this entry; default: now', wholeNumber(-1))
    .summary('compare the contexts of two threads, lanes or entries')
    .description(
      'Compares what the model sees in two contexts, such as those of a thread and its fork, or before and after an entry. ' +
        'Lines with - are only in the first context, lines with + only in the second.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold diff demo-1 demo-1b', 'lanefold diff demo-1 --at 12'],
        ['DATABASE_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async (threadId: string, other: string | undefined, options: DiffFlags) => {
      const lanefold = await connect(options, { start: false });
      try {
        const rows = await lanefold.contexts.diff(
          omitUndefined({ threadId, contextRef: options.lane, atSeq: options.at }),
          omitUndefined({ threadId: other ?? threadId, contextRef: options.otherLane, atSeq: options.otherAt }),
        );
        if (options.json) return printJson({ data: rows });
        for (const row of rows) print(showDifference(row));
      } finally {
        await lanefold.close();
      }
    });

function showDifference(row: DiffRow): string {
  const c = colours();
  const text = `${row.role}  ${inOneLine(messageText(row), process.stdout.isTTY ? (process.stdout.columns || 80) - 20 : 160)}`;
  if (row.change === 'same') return c.dim(`  ${text}`);
  return row.change === 'removed' ? c.red(`- ${text}`) : c.green(`+ ${text}`);
}

interface ForkFlags extends ConnectionOptions {
  id?: string;
  at?: number;
  lane?: string;
  metadata?: JsonObject;
  repair?: boolean;
  json?: boolean;
}

export const addFork = (program: Command): Command =>
  withJson(withDatabase(program.command('fork')))
    .argument('<thread>', 'thread id of the parent')
    .option(
      '--at <seq>',
      'last entry that the fork includes; -1: none; default: the last of the thread',
      wholeNumber(-1),
    )
    .option('--id <id>', 'id of the fork; default: a generated id')
    .option('--lane <ref>', 'only this lane; default: all')
    .option('--metadata <json>', 'metadata of the fork', parseJsonObject)
    .option('--repair', 'close an open tool group with error results')
    .summary('fork a thread as it was after an entry')
    .description(
      'Creates a thread with the configuration, state and contexts that another thread had after the entry --at. ' +
        'From then on, the two are independent.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold fork demo-1', 'lanefold fork demo-1 --at 12 --id demo-1b'],
        ['DATABASE_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (parent: string, options: ForkFlags) => {
      const lanefold = await connect(options, { start: false });
      try {
        const { id, at: atSeq, lane: contextRef, metadata, repair } = options;
        const asked = omitUndefined({ id, atSeq, contextRef, metadata, repair });
        const fork = await lanefold.threads.fork(parent, asked);
        if (options.json) return printJson(snakeKeys({ ...fork }));
        print(`${fork.id}: ${fork.rev} entries${fork.duplicate ? ', already existed' : ''}`);
      } finally {
        await lanefold.close();
      }
    });
