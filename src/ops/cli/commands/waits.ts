import type { Command } from 'commander';
import { toJson } from '../../../server/json.ts';
import { refToJson } from '../../../server/run-json.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { PendingWait } from '../../../database/store/wait/types.ts';
import { checkCall, toPayload, withRedis, wholeNumber, type ConnectionOptions } from '../options.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { subcommand, withLanefold } from '../connect.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
}

const environment = ['DATABASE_URL', 'LANEFOLD_DIR'] as const;
const withJobs = [...environment, 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS'] as const;

/** Shows what tool calls wait for, and resolves them by hand. */
export function addWaits(program: Command): Command {
  const waits = program
    .command('waits')
    .summary('list the tool calls that wait for events, times and runs, and resolve them')
    .description('Shows what tool calls wait for, and resolves waits by hand.');

  subcommand(waits, 'list', 'list the calls that wait, oldest first')
    .option('--event <name>', 'only waits for this event')
    .option('--limit <count>', 'how many; default 50', wholeNumber(1, 1_000))
    .option('--after <cursor>', 'the next page')
    .addHelpText(
      'after',
      commandHelp(['lanefold waits', 'lanefold waits list --event order:42:paid'], [...environment]),
    )
    .action((options: Options & { event?: string; limit?: number; after?: string }) =>
      withLanefold(options, async ({ waits }) => {
        const { event, limit, after } = options;
        const { data, nextAfter } = await waits.list(omitUndefined({ event, limit, after }));
        if (options.json)
          return printJson({
            data: data.map((wait) => ({ ...toJson(wait), run: refToJson(wait.run) })),
            next_after: nextAfter,
          });
        if (data.length === 0) return note('no tool call waits; `lanefold threads` lists the calls that need approval');
        print(table(['since', 'call', 'tool', 'waits for', 'until', 'thread', 'run'], data.map(toRow)).join('\n'));
        if (nextAfter !== null) note(`more: --after ${nextAfter}`);
      }),
    );

  withRedis(subcommand(waits, 'resolve', 'end a wait with a result or an error'))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .argument('<call>', 'round and index of the call, such as 1.0')
    .option('--result <json>', 'the result of the call: JSON or text; default null')
    .option('--error <text>', 'the call fails with this message, which the model reads')
    .option('--by <name>', 'who resolves it, for the log')
    .addHelpText(
      'after',
      commandHelp(
        [
          `lanefold waits resolve THREAD RUN 1.0 --result '{"paid": true}'`,
          'lanefold waits resolve THREAD RUN 1.0 --error "the order was cancelled" --by ada',
        ],
        [...withJobs],
      ),
    )
    .action(
      (
        thread: string,
        id: string,
        call: string,
        options: Options & { result?: string; error?: string; by?: string },
      ) => {
        checkCall(call);
        return withLanefold(options, async ({ waits }) => {
          const { result, error, by } = options;
          const given = omitUndefined({ result: result === undefined ? undefined : toPayload(result), error, by });
          const receipt = await waits.resolve({ threadId: thread, id }, call, given);
          if (options.json) return printJson(receipt);
          print(
            receipt.resolved ? `resolved; the run is ${receipt.status}` : `the wait had ended before: ${receipt.wait}`,
          );
        });
      },
    );
  return waits;
}

const toRow = (wait: PendingWait): string[] => [
  wait.since.toISOString(),
  `${wait.round}.${wait.index}`,
  wait.name,
  wait.event ?? (wait.run ? `run ${wait.run.id}` : 'a time'),
  wait.until?.toISOString() ?? '',
  wait.threadId,
  wait.runId,
];
