import type { Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import type { ListedWorker } from '../../../database/store/worker/list-workers.ts';
import { connect } from '../connect.ts';
import { table, note, print, printJson } from '../output.ts';
import { commandHelp } from '../help.ts';
import { withDatabase, wholeNumber, withJson, type ConnectionOptions } from '../options.ts';

interface Options extends ConnectionOptions {
  hours: number;
  json?: boolean;
}

export const addWorkers = (program: Command): Command =>
  withJson(withDatabase(program.command('workers')))
    .option('--hours <n>', 'also list workers that stopped or died in the last n hours', wholeNumber(1, 24 * 30), 1)
    .summary('list the workers and whether they are alive')
    .description(
      'Lists the workers of all processes: those that are alive, then those that recently stopped or died. A worker is dead ' +
        'when it has been silent for twice its lease, and draining when it is stopping and takes no more runs.',
    )
    .addHelpText(
      'after',
      commandHelp(['lanefold workers', 'lanefold workers --hours 24 --json'], ['DATABASE_URL', 'LANEFOLD_DIR']),
    )
    .action(async ({ hours, ...options }: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const workers = await lanefold.workers.list({ hours });
        if (options.json) return printJson({ data: workers.map((worker) => snakeKeys({ ...worker })) });
        const header = ['id', 'host', 'version', 'queue', 'agents', 'runs held', 'last heartbeat', 'state'];
        if (workers.length > 0) print(table(header, workers.map(toRow)).join('\n'));
        note(summaryOf(workers));
      } finally {
        await lanefold.close();
      }
    });

/** Distinguishes no worker at work from no worker alive. */
function summaryOf(workers: readonly ListedWorker[]): string {
  const alive = workers.filter(({ state }) => state === 'alive');
  const draining = workers.filter(({ state }) => state === 'draining').length;
  const rest = draining > 0 ? `, ${draining} draining` : '';
  if (alive.length === 0) return `no worker is alive to take runs${rest}`;
  return `${alive.length} alive, ${alive.filter(({ runsHeld }) => runsHeld > 0).length} busy${rest}`;
}

const toRow = (worker: ListedWorker): string[] => [
  worker.id,
  `${worker.host}:${worker.pid}`,
  worker.version,
  worker.queue,
  worker.agents.join(', '),
  `${worker.runsHeld} of ${worker.concurrency}`,
  worker.heartbeatAt.toISOString(),
  worker.state,
];
