import { LanefoldError } from '../../base/errors.ts';
import { openDatabase } from '../../database/postgres/pool.ts';
import { openQueue } from '../../runs/queue/open-queue.ts';
import { countRuns } from '../../database/store/run/count-runs.ts';
import { isDistributed } from '../../database/store/schema/version.ts';
import { lockOrigin, withScratch, probe, type Scratch } from '../../database/store/scratch/scratch.ts';
import { type BenchReport, type Level, Durations } from './report.ts';
import { cpus } from 'node:os';
import { measureLevel } from './measure-level.ts';
import type { Rig } from './measure-costs.ts';
import { suggest } from './suggest.ts';
import { QuietClient } from '../../database/postgres/watched-client.ts';
import { readSettings } from '../../database/store/scratch/read-server.ts';
import { readFileSync } from 'node:fs';

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
 * Measures what runs cost on the servers of a database and a queue, in a scratch database and a scratch queue. Both
 * are removed at the end, also after an error; what a killed process left is removed at the beginning.
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

interface Measurement {
  /** Numbers of runs at a time; each is measured for the same time. */
  levels: readonly number[];
  seconds: number;
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/** Share of the time in which V8 compiles what it will execute, before anything is measured. */
const warmUpShare = 0.1;
/** Transactions per second from which on the work of others shows in the figures. */
const visible = 20;

async function measureLevels(
  place: Omit<Rig, 'serverPid'>,
  { levels, seconds, signal, onProgress }: Measurement,
): Promise<BenchReport> {
  const { serverPid, ...postgres } = await inspectServer(place.scratch);
  const rig = { ...place, serverPid };
  onProgress('warming up');
  await measureLevel(rig, { concurrency: Math.max(...levels), seconds: warmUpShare * seconds, signal });
  const measured: Level[] = [];
  for (const concurrency of levels) {
    onProgress(`${concurrency} at a time (${measured.length + 1} of ${levels.length})`);
    const share = ((1 - warmUpShare) * seconds) / levels.length;
    measured.push(await measureLevel(rig, { concurrency, seconds: share, signal }));
  }
  const figures = {
    queue: place.redisUrl === null ? ('postgres' as const) : ('redis' as const),
    machine: { cpus: cpus().length, cpu: cpus()[0]?.model ?? 'unknown', node: process.version },
    postgres,
    levels: measured,
  };
  return { ...figures, suggestions: suggest(figures), notes: notesOn(measured) };
}

function notesOn(levels: readonly Level[]): string[] {
  const others = Math.max(...levels.map((level) => level.other_commits_per_second));
  return [
    ...(others > visible
      ? [
          `The server's other databases committed up to ${others.toFixed(0)} transactions per second: WAL and the CPU of PostgreSQL include their work.`,
        ]
      : []),
    ...(levels.some(({ per_run }) => per_run.postgres_cpu_ms === null)
      ? ['PostgreSQL runs on another machine or in a container, so its CPU is not known.']
      : []),
    ...(levels.some(({ per_run }) => per_run.wal_bytes === null)
      ? ['The server does not tell how much write-ahead log it has written.']
      : []),
  ];
}

const probing = { rounds: 200, atMostMs: 3_000 };

/** Reads the settings of the server, probes it, and finds its process if it runs on this machine. */
async function inspectServer(scratch: Scratch): Promise<BenchReport['postgres'] & { serverPid: number | undefined }> {
  const client = new QuietClient({ connectionString: scratch.url, application_name: 'lanefold bench' });
  try {
    await client.connect();
    const { backend, ...settings } = await readSettings(client);
    const { roundTripMs, commitMs } = await probe(client, probing);
    return {
      ...settings,
      round_trip_ms: Durations.of(roundTripMs).percentiles(),
      commit_ms: Durations.of(commitMs).percentiles(),
      serverPid: serverProcess(backend, scratch.name),
    };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * The main process of the PostgreSQL server, if it runs on this machine and `/proc` shows it.
 *
 * @param backend the process of a session, as the server numbers it
 * @param database the session's database, by which the process is told from one with its number on this machine
 */
function serverProcess(backend: number, database: string): number | undefined {
  try {
    const title = readFileSync(`/proc/${backend}/cmdline`, 'utf8');
    if (!title.startsWith('postgres: ') || !title.includes(` ${database} `)) return undefined;
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${backend}/status`, 'utf8'))![1]);
  } catch {
    return undefined;
  }
}
