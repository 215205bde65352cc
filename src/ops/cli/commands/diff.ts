import type { Command } from 'commander';
import { omitUndefined } from '../../../base/common/json.ts';
import type { DiffRow } from '../../../database/store/context/context-diff.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { colours, print, printJson } from '../output.ts';
import { inOneLine, messageText } from '../show-message.ts';

interface Options extends ConnectionOptions {
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
    .action(async (threadId: string, other: string | undefined, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const rows = await lanefold.contexts.diff(
          omitUndefined({ threadId, contextRef: options.lane, atSeq: options.at }),
          omitUndefined({ threadId: other ?? threadId, contextRef: options.otherLane, atSeq: options.otherAt }),
        );
        if (options.json) return printJson({ data: rows });
        for (const row of rows) print(line(row));
      } finally {
        await lanefold.close();
      }
    });

function line(row: DiffRow): string {
  const c = colours();
  const text = `${row.role}  ${inOneLine(messageText(row), process.stdout.isTTY ? (process.stdout.columns || 80) - 20 : 160)}`;
  if (row.change === 'same') return c.dim(`  ${text}`);
  return row.change === 'removed' ? c.red(`- ${text}`) : c.green(`+ ${text}`);
}
