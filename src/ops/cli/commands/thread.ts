import type { Command } from 'commander';
import type { ThreadEntry } from '../../../database/store/log/read-entries.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { colours, note, print, printJson } from '../output.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { printable } from '../../../base/log/logger.ts';
import { inOneLine, messageText } from '../show-message.ts';

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
