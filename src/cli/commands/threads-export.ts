import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, type ConnectionOptions } from '../options.ts';

export const addThreadsExport = (threads: Command): Command =>
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
