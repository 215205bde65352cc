import { InvalidArgumentError, Option, type Command } from 'commander';
import { levelRows, type BenchReport } from '../../bench/report.ts';
import { findDatabase } from '../connect.ts';
import { table, colours, createProgress, note, print, printJson } from '../output.ts';
import { exitCodes, Exit, stopSignal } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';

interface Options extends ConnectionOptions {
  seconds: number;
  concurrency: number[];
  besideActiveRuns?: boolean;
  json?: boolean;
}

export const addBench = (program: Command): Command =>
  withJson(withQueue(program.command('bench')))
    .option('--seconds <n>', 'how long to execute runs, in all', wholeNumber(1, 3_600), 60)
    .addOption(
      new Option('--concurrency <list>', 'runs at a time: comma-separated numbers, measured one after the other')
        .argParser(parseLevels)
        .default([1, 10, 50], '1,10,50'),
    )
    .option('--beside-active-runs', 'measure even if runs are active; they and the figures will be slower')
    .summary('measure what runs cost on your database and queue')
    .description(
      'Measures runs on the server of your database and on your queue: runs per second, CPU, time to the first model call, ' +
        'write-ahead log, commits and disk space per run, and suggests settings. A run makes two model calls and one tool ' +
        'call, which answer at once; no model provider is called.\n\n' +
        'The runs are in a scratch database on the same server, lanefold_bench_<number>, and on Redis in a queue of their ' +
        'own. The command does not write to your database, and removes both at the end, on errors and signals too. After a ' +
        'SIGKILL, the next measurement of the same database and queue removes them. It needs the right to create ' +
        'databases, connects directly (LANEFOLD_DIRECT_URL) because a pooler does not know the scratch database, and ' +
        'needs up to 10 kB of disk per run while it works. Replicas receive its write-ahead log.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold bench', 'lanefold bench --seconds 20 --concurrency 1,20,100', 'lanefold bench --json > bench.json'],
        ['DATABASE_URL', 'LANEFOLD_DIRECT_URL', 'REDIS_URL', 'LANEFOLD_DIR', 'NO_COLOR'],
      ),
    )
    .action(async ({ seconds, concurrency: levels, besideActiveRuns = false, ...options }: Options) => {
      const stop = new AbortController();
      void stopSignal().then((signal) => {
        note(`${signal}: removing the scratch database; repeat the signal to exit immediately`);
        stop.abort(new Exit(exitCodes.failed));
      });
      const { runBench } = await import('../../bench/bench.ts');
      const database = await findDatabase(options, { start: false });
      const progress = createProgress();
      try {
        const report = await runBench({
          url: database.directUrl,
          redisUrl: options.redisUrl || null,
          levels,
          seconds,
          besideActiveRuns,
          signal: stop.signal,
          onProgress: progress.update,
          onError: note,
        });
        progress.end();
        if (options.json) printJson(report);
        else show(report);
      } catch (error) {
        if (error === stop.signal.reason) note('interrupted; nothing is left of the measurement');
        throw error;
      } finally {
        progress.end();
        await database.release();
      }
    });

function show(report: BenchReport): void {
  const c = colours();
  const { machine, postgres, levels, queue } = report;
  const { round_trip_ms: trip, commit_ms: commit } = postgres;
  print(
    `Queue in ${queue === 'redis' ? 'Redis' : 'PostgreSQL'} · PostgreSQL ${postgres.version} · here ${machine.cpus} × ${machine.cpu}, Node ${machine.node}`,
  );
  print(
    `Round trip ${trip.p50.toFixed(2)} ms (p99 ${trip.p99.toFixed(2)}), commit ${commit.p50.toFixed(2)} ms (p99 ${commit.p99.toFixed(2)}), fsync ${postgres.fsync}, synchronous_commit ${postgres.synchronous_commit}`,
  );
  print();
  const [header, ...rows] = levelRows(levels);
  for (const line of table(header, rows)) print(line);
  print('First call: ms from the request to the first model call. CPU in ms, WAL and disk in kB: per run.');
  for (const text of report.notes) print(`Note: ${text}`);
  print();
  for (const { about, advice, reason } of report.suggestions) {
    print(`${c.bold(about)}: ${advice}`);
    print(`  ${reason}`);
  }
}

function parseLevels(text: string): number[] {
  const levels = text.split(',').map((part) => wholeNumber(1, 1_000)(part.trim()));
  if (levels.length <= 8) return levels;
  throw new InvalidArgumentError('At most 8 numbers.');
}
