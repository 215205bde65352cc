import type { ServerSettings } from '../../database/store/scratch/read-server.ts';
import { createHistogram } from 'node:perf_hooks';

/** A setting to use, and why. */
export interface Suggestion {
  about: 'concurrency' | 'pool' | 'connections' | 'queue' | 'disk' | 'network' | 'durability' | 'memory';
  advice: string;
  reason: string;
}

/** The figures of one number of runs at a time. Null: the server does not tell, or is on another machine. */
export interface Level {
  concurrency: number;
  runs: number;
  seconds: number;
  runs_per_second: number;
  /** From the request to the first model call. */
  first_model_call_ms: Percentiles;
  per_run: {
    /** Of this process, which is client and worker. */
    cpu_ms: number;
    postgres_cpu_ms: number | null;
    redis_cpu_ms: number | null;
    wal_bytes: number | null;
    /** Transactions, including those that only read. */
    commits: number;
    disk_bytes: number;
  };
  /** The most at any moment: connections, and connections of the library's pool that were executing a statement. */
  connections: { open: number; busy: number };
  /** Transactions of the server's other databases; the measurement itself adds some five. */
  other_commits_per_second: number;
}

/** The result of one measurement, as `lanefold bench --json` prints it. */
export interface BenchReport {
  queue: 'postgres' | 'redis';
  machine: { cpus: number; cpu: string; node: string };
  postgres: Omit<ServerSettings, 'backend'> & {
    /** On one connection. A commit includes the round trip. */
    round_trip_ms: Percentiles;
    commit_ms: Percentiles;
  };
  levels: Level[];
  suggestions: Suggestion[];
  notes: string[];
}

const orUnknown = (value: number | null, digits: number): string => (value === null ? '?' : value.toFixed(digits));

/** The levels as a table for people: the header, then a row for each. */
export function levelRows(levels: readonly Level[]): [string[], ...string[][]] {
  const withRedis = levels.some(({ per_run }) => per_run.redis_cpu_ms !== null);
  return [
    [
      'at a time',
      'runs/s',
      'first call p50',
      'p95',
      'p99',
      'CPU here',
      'PostgreSQL',
      ...(withRedis ? ['Redis'] : []),
      'WAL',
      'commits',
      'disk',
    ],
    ...levels.map(({ concurrency, runs_per_second, first_model_call_ms: first, per_run: run }) => [
      `${concurrency}`,
      runs_per_second.toFixed(0),
      ...[first.p50, first.p95, first.p99].map((ms) => ms.toFixed(1)),
      run.cpu_ms.toFixed(2),
      orUnknown(run.postgres_cpu_ms, 2),
      ...(withRedis ? [orUnknown(run.redis_cpu_ms, 2)] : []),
      orUnknown(run.wal_bytes === null ? null : run.wal_bytes / 1_000, 1),
      run.commits.toFixed(1),
      (run.disk_bytes / 1_000).toFixed(1),
    ]),
  ];
}

/** Percentiles in milliseconds. */
interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Collects durations in milliseconds, in a histogram of microseconds. */
export class Durations {
  readonly #micros = createHistogram();

  static of(values: readonly number[]): Durations {
    const durations = new Durations();
    for (const ms of values) durations.add(ms);
    return durations;
  }

  add(ms: number): void {
    this.#micros.record(Math.max(1, Math.round(ms * 1_000)));
  }

  clear(): void {
    this.#micros.reset();
  }

  percentiles(): Percentiles {
    const [p50, p95, p99] = [50, 95, 99].map((percent) => this.#micros.percentile(percent) / 1_000) as [
      number,
      number,
      number,
    ];
    return { p50, p95, p99 };
  }
}
