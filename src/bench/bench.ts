import { LanefoldError } from '../errors.ts';
import { openDatabase } from '../postgres/pool.ts';
import { openQueue } from '../queue/open-queue.ts';
import { countRuns } from '../store/run/count-runs.ts';
import { isDistributed } from '../store/schema/version.ts';
import { lockOrigin } from '../store/scratch/origin.ts';
import { withScratch, type Scratch } from '../store/scratch/scratch.ts';
import { measureLevels, type Measurement } from './measure-levels.ts';
import type { BenchReport } from './report.ts';

export interface BenchOptions extends Measurement {
  /** A direct connection to a migrated database. */
  url: string;
  /** Null: the queue is in PostgreSQL. */
  redisUrl: string | null;
  besideActiveRuns: boolean;
  /** Receives errors of connections and workers. */
  onError: (message: string) => void;
}

/**
 * Measures what runs cost on the servers of a database and a queue, in a scratch database and a queue of its own. Both
 * are removed at the end, whatever happens; what a killed process left is removed at the beginning.
 *
 * @throws LanefoldError `run_active`, `database_busy`, `database_outdated`, `database_error`; see `lockOrigin` and
 * `withScratch`
 */
export async function runBench(options: BenchOptions): Promise<BenchReport> {
  const { url, redisUrl, signal, onError } = options;
  const origin = await lockOrigin(url);
  try {
    if (!options.besideActiveRuns) await refuseActiveRuns(url);
    const distributed = await isDistributed(origin);
    return await withScratch(origin, url, { queueTables: redisUrl === null }, async (scratch) => {
      signal.throwIfAborted();
      const queuePrefix = `lf-bench-${scratch.originId}`;
      const emptyQueue = () => removeQueue(queuePrefix, scratch, redisUrl);
      await emptyQueue();
      try {
        const report = await measureLevels({ scratch, observer: origin, redisUrl, queuePrefix, onError }, options);
        return distributed ? { ...report, notes: [...report.notes, onCoordinator] } : report;
      } finally {
        await emptyQueue();
      }
    });
  } finally {
    await origin.end().catch(() => {});
  }
}

async function refuseActiveRuns(url: string): Promise<void> {
  const db = openDatabase({ url, max: 1, applicationName: 'lanefold bench', prepare: false });
  const { runs } = await countRuns(db).finally(() => db.close());
  const active = Object.entries(runs).filter(([, count]) => count > 0);
  if (active.length === 0) return;
  throw new LanefoldError(
    'run_active',
    `Runs are active: ${active.map((pair) => pair.reverse().join(' ')).join(', ')}.`,
    {
      hint: 'Nothing was measured, because it would slow these runs down and they would distort the figures. Wait until they end, or add --beside-active-runs.',
      details: runs,
    },
  );
}

const onCoordinator =
  'The database is distributed, and the scratch database is not: these are the figures of the coordinator alone.';

/** A queue in PostgreSQL is removed with its database. */
async function removeQueue(prefix: string, { url }: Scratch, redisUrl: string | null): Promise<void> {
  if (redisUrl === null) return;
  const queue = openQueue({ redisUrl, databaseUrl: url, prefix, shards: 1, removing: true });
  try {
    await queue.ready();
    await queue.obliterate();
  } finally {
    await queue.close();
  }
}
