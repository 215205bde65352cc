import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { printable } from '../../../base/log/logger.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { note, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  offset: number;
  length?: number;
  json?: boolean;
}

export const addContent = (program: Command): Command =>
  withJson(withDatabase(program.command('content')))
    .argument('<thread>', 'thread id')
    .argument('<id>', 'id of the text, from refs.contents of a message')
    .option('--offset <n>', 'start at this character', wholeNumber(0, 2 ** 31 - 2), 0)
    .option('--length <n>', 'maximum number of characters', wholeNumber(1, 2 ** 31 - 2))
    .summary('show a text that a message shows only in part')
    .description('Shows a large text that is kept out of the log. A message lists its texts in refs.contents.')
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold content demo-1 c_4b3403665fea6d0f1b1c2a7e9d3f5a60 --length 2000'],
        ['DATABASE_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, { offset, length, json, ...options }: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const range = await lanefold.threads.readContent(threadId, id, omitUndefined({ offset, length }));
        if (json) return printJson(snakeKeys(range));
        print(process.stdout.isTTY ? printable(range.text) : range.text);
        if (range.nextOffset !== null) note(`more: --offset ${range.nextOffset} (of ${range.chars} characters)`);
      } finally {
        await lanefold.close();
      }
    });
