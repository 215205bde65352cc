import { cpus } from 'node:os';
import { inspectServer } from './inspect-server.ts';
import { measureLevel } from './measure-level.ts';
import type { BenchReport, Level } from './report.ts';
import type { Rig } from './rig.ts';
import { suggest } from './suggest.ts';

export interface Measurement {
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

export async function measureLevels(
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
