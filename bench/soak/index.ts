import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { WorkerState } from '../processes/worker.ts';
import type { Servers } from '../setup.ts';
import { printErrors } from '../support/print-errors.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { agent, models } from '../workload.ts';
import { startLoad } from './load.ts';
import { plot } from './plot.ts';
import { sampleTables, type Sample } from './sample.ts';
import { toCsv } from './csv.ts';

export interface SoakOptions {
  minutes: number;
  runsPerSecond: number;
  /** Keep the queue in Redis. */
  redis: boolean;
  /** Path without extension of the CSV and the SVG. */
  out: string;
}

const sampleSeconds = 10;
const workers = 2;
const drainMs = 120_000;
/** Short, so that traces are dropped as fast as they are written for most of the hour. */
const retention = { traceRetentionDays: 5 / (24 * 60), keepJobsMs: 60_000 };

/**
 * Executes runs at a steady rate with retention on and samples sizes and dead rows of all tables. Rewrites the CSV and
 * the plot with every sample, so that an interrupted soak leaves both.
 */
export async function soak(servers: Servers, { minutes, runsPerSecond, redis, out }: SoakOptions): Promise<void> {
  const databaseUrl = await servers.database();
  const options = { databaseUrl, redisUrl: redis ? servers.redisUrl! : null, queuePrefix: 'soak' };
  const processes = await Promise.all(
    Array.from({ length: workers }, () => startProcess('worker', { ...options, worker: retention })),
  );
  const lanefold = await createLanefold({ ...options, agents: [agent], models });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  await mkdir(path.dirname(path.resolve(out)), { recursive: true });

  const load = startLoad(lanefold, runsPerSecond);
  const startedAt = performance.now();
  const samples: Sample[] = [];
  const title = `${runsPerSecond} runs/s, queue in ${redis ? 'Redis' : 'PostgreSQL'}, traces kept for 5 minutes`;
  for (let next = sampleSeconds; next <= minutes * 60; next += sampleSeconds) {
    await delay(startedAt + next * 1_000 - performance.now());
    const states = await Promise.all(processes.map((worker) => worker.ask<WorkerState>('state')));
    samples.push({
      seconds: next,
      accepted: load.accepted,
      skipped: load.skipped,
      residentMb: states.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1e6,
      ...(await sampleTables(pool, sampleSeconds)),
    });
    await writeFile(`${out}.csv`, toCsv(samples));
    await writeFile(`${out}.svg`, plot(title, samples));
  }
  await load.stop();
  const openNow = async () => (await sampleTables(pool, sampleSeconds)).open;
  await until(async () => (await openNow()) === 0, { withinMs: drainMs, everyMs: 1_000 });

  const last = samples.at(-1)!;
  const total = last.tables.reduce((sum, { tableMb, indexMb }) => sum + tableMb + indexMb, 0);
  console.log(`\nSoak of ${minutes} minutes: ${title}`);
  console.log(
    `  ${last.accepted} runs accepted, ${load.failed} rejected, ${last.skipped} not sent because too many were open, ${await openNow()} not ended ${drainMs / 60_000} minutes after the last one; last sample: p50 ${last.p50Ms} ms, p95 ${last.p95Ms} ms; ${total.toFixed(0)} MB; ${out}.csv, ${out}.svg`,
  );
  printErrors(await Promise.all(processes.map((worker) => worker.ask<WorkerState>('state'))));
  await Promise.all(processes.map((worker) => worker.stop()));
  await lanefold.close();
  await pool.end();
}
