import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { isLanefoldError } from '../../../base/errors.ts';
import { findDatabase } from '../connect.ts';
import { exitCodes, UsageError, Exit } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { createProgress, print, printJson } from '../output.ts';

interface Options extends ConnectionOptions {
  concurrency: number;
  prefix: string;
  json?: boolean;
}

export const addReplay = (program: Command): Command =>
  withJson(withQueue(program.command('replay')))
    .argument('<file>', 'JSON array of {"traj": [OpenAI chat messages]}')
    .option('--concurrency <n>', 'maximum concurrent conversations', wholeNumber(1), 16)
    .option('--prefix <text>', 'prefix of every thread id', '')
    .summary('replay recorded conversations through queue, worker and database, and compare')
    .description(
      'Replays recorded conversations with a private queue and worker: each user message becomes a run; recorded turns ' +
        'replace the model, and recorded tool messages the tools. Compares the context of every model call and the final ' +
        'projection of every thread with the recording. Threads are named <prefix><file name>:<index> and ' +
        'are kept. Exits with 1 on any mismatch, with 2 if a thread id is taken.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold replay conversations.json',
          'lanefold replay conversations.json --prefix again- --concurrency 32 --json',
        ],
        ['DATABASE_URL', 'LANEFOLD_DIRECT_URL', 'REDIS_URL', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (file: string, options: Options) => {
      const { parseRecording } = await import('../../replay/recording.ts');
      const recording = parseRecording(file, await read(file));
      const database = await findDatabase(options, { start: true });
      const progress = createProgress();
      try {
        const redisUrl = options.redisUrl || null;
        const [{ replay }, { reportJson, reportLines }] = await Promise.all([
          import('../../replay/replay.ts'),
          import('../../replay/compare.ts'),
        ]);
        const { migrate } = await import('../../../database/store/schema/migrate.ts');
        if (database.embedded) await migrate(database.directUrl, { queueTables: !redisUrl });
        const startedAt = performance.now();
        const report = await replay(recording, {
          databaseUrl: database.url,
          directUrl: database.directUrl,
          redisUrl,
          concurrency: options.concurrency,
          prefix: options.prefix,
          onProgress: (done, total) => {
            const rate = done / ((performance.now() - startedAt) / 1_000);
            progress.update(`${done} of ${total} runs, ${rate.toFixed(0)} per second`);
          },
        }).catch((error: unknown) => {
          if (!isLanefoldError(error, 'thread_exists')) throw error;
          throw new UsageError(error.message, error.hint ?? 'Use --prefix.', error.code);
        });
        progress.end();
        if (options.json) printJson(reportJson(report));
        else for (const line of reportLines(report)) print(line);
        if (report.mismatches > 0) throw new Exit(exitCodes.failed);
      } finally {
        progress.end();
        await database.release();
      }
    });

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `Cannot read the recording ${file}: ${(error as Error).message}`,
      'Pass the path of a JSON file.',
    );
  }
}
