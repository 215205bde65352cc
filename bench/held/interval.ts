import type { SteadyInterval } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { quantile } from '../support/median.ts';
import type { BenchProcess } from '../support/process.ts';
import { readServersCpu } from '../support/servers-cpu.ts';
import type { Counters, TableCounters } from './counters.ts';

/** An interval of the steady rate; what can be is per run. */
export interface Interval {
  runsPerSecond: number;
  skipped: number;
  p50Ms: number;
  p95Ms: number;
  /** Of Node and the servers, in milliseconds. */
  cpuMs: number;
  walBytes: number;
  commits: number;
  /** With the updates and deletes of this interval. */
  tables: TableCounters[];
  reads: Record<string, number>;
}

/** Starts an interval; the result ends it. */
export async function startInterval(
  servers: Servers,
  measured: BenchProcess,
  count: () => Promise<Counters>,
): Promise<() => Promise<Interval>> {
  await measured.ask('interval');
  const spent = readServersCpu(servers.pids);
  const before = await count();
  return async () => {
    const { latencies, seconds, skipped, nodeCpuMs } = await measured.ask<SteadyInterval>('interval');
    const { postgresCpuMs = NaN, redisCpuMs = 0 } = spent();
    const after = await count();
    const runs = latencies.length;
    return {
      runsPerSecond: runs / seconds,
      skipped,
      p50Ms: quantile(latencies, 0.5),
      p95Ms: quantile(latencies, 0.95),
      cpuMs: (nodeCpuMs + postgresCpuMs + redisCpuMs) / runs,
      walBytes: (after.walBytes - before.walBytes) / runs,
      commits: (after.commits - before.commits) / runs,
      tables: after.tables.map((table) => since(before.tables, table)),
      reads: Object.fromEntries(
        Object.entries(after.reads).map(([what, reads]) => [what, (reads - (before.reads[what] ?? 0)) / runs]),
      ),
    };
  };
}

function since(tables: TableCounters[], now: TableCounters): TableCounters {
  const before = tables.find(({ name }) => name === now.name);
  return {
    ...now,
    updates: now.updates - (before?.updates ?? 0),
    hotUpdates: now.hotUpdates - (before?.hotUpdates ?? 0),
    deletes: now.deletes - (before?.deletes ?? 0),
  };
}

/** The share of the updates that wrote no index entry. */
export const hotShare = (tables: TableCounters[]): number =>
  tables.reduce((sum, { hotUpdates }) => sum + hotUpdates, 0) / tables.reduce((sum, { updates }) => sum + updates, 0);

export const changing = (tables: TableCounters[]): TableCounters[] =>
  tables.filter(({ updates, deletes, deadRows }) => updates + deletes > 0 && deadRows > 0);
