import type { Command } from 'commander';
import type { StreamItem } from '../../streams/stream-item.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { printJson } from '../output.ts';
import { snakeKeys } from '../../case.ts';
import { StreamText } from '../show-stream.ts';
import { stopSignal } from '../stop-signal.ts';

interface Options extends ConnectionOptions {
  after: number;
  json?: boolean;
}

export const addTail = (program: Command): Command =>
  withJson(withQueue(program.command('tail')))
    .argument('<thread>', 'thread id')
    .argument('[run]', 'run id: only this run, and until it ends')
    .option('--after <event_seq>', 'only events after this one', wholeNumber(-1), -1)
    .summary('follow a thread or a run live')
    .description(
      'Shows what was, then what comes: answers as they are written, tool calls and their results. A run is followed to ' +
        'its end, a thread until Ctrl-C. Leaving cancels nothing. With --json, one item of the stream a line.',
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
          if (json) printJson(toJson(item));
          else process.stdout.write(text.of(item));
        }
      } finally {
        await lanefold.close();
      }
    });

/** `{type: "event", …}` as the API tells events, or an `llm_delta` or `llm_snapshot`. */
const toJson = (item: StreamItem): object =>
  item.type === 'event' ? { type: 'event', ...snakeKeys(item.event) } : snakeKeys(item);
