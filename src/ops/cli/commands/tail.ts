import type { Command } from 'commander';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { note, printJson } from '../output.ts';
import { printable } from '../../../base/log/logger.ts';
import { itemToJson, StreamText } from '../show-run.ts';
import { stopSignal } from '../errors.ts';

interface Options extends ConnectionOptions {
  after: number;
  json?: boolean;
}

export const addTail = (program: Command): Command =>
  withJson(withQueue(program.command('tail')))
    .argument('<thread>', 'thread id')
    .argument('[run]', 'run id: follow only this run, until it ends')
    .option('--after <event_seq>', 'start after this event', wholeNumber(-1), -1)
    .summary('follow a thread or a run live')
    .description(
      'Shows past events, then new ones live: answers as they are generated, tool calls and results. Follows a run to ' +
        'its end, and a thread until Ctrl-C; stopping cancels nothing. With --json, prints one stream item per line.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold tail demo-1', 'lanefold tail demo-1 run_01k7… --json', 'lanefold tail demo-1 --after 99'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async (threadId: string, runId: string | undefined, options: Options) => {
      const lanefold = await connect(options, { start: false });
      const stop = new AbortController();
      void stopSignal().then(() => stop.abort());
      try {
        const { after, json } = options;
        const text = new StreamText();
        const items = lanefold.streams.follow(threadId, runId, { after, entries: !json, signal: stop.signal });
        for await (const item of items) {
          if (json) printJson(itemToJson(item));
          else if (item.type === 'unattended') note(printable(item.message));
          else process.stdout.write(text.of(item));
        }
      } finally {
        await lanefold.close();
      }
    });
