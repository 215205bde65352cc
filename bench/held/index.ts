import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Measurement } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { backends, type Backend } from '../support/backends.ts';
import { startProcess } from '../support/process.ts';
import { readCounters } from './counters.ts';
import { startInterval, type Interval } from './interval.ts';
import { indexedChanges } from './not-hot.ts';
import { printComparison, printInterval } from './print.ts';

const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
const concurrency = 50;
const warmUpSeconds = 8;
const capacitySeconds = 10;
const intervalSeconds = 10;
const intervalsBefore = 3;

/**
 * Executes runs at half of capacity while a reporting transaction keeps its snapshot, so that nothing that was updated
 * or deleted since can be cleared away. Compares rate, latency and cost before and at the end, and the capacity.
 */
export async function heldSnapshot(servers: Servers, { minutes }: { minutes: number }): Promise<void> {
  for (const backend of backends(servers)) await hold(servers, backend, minutes);
  console.log('\nUpdates that write index entries because a run changes an indexed column (PostgreSQL):');
  for (const { table, column, indexes, updates } of await indexedChanges(await servers.database())) {
    console.log(`  ${table}.${column}, ${updates} in a run: ${indexes.join(', ')}`);
  }
}

async function hold(servers: Servers, { name, redisUrl }: Backend, minutes: number): Promise<void> {
  const databaseUrl = await servers.database();
  const measured = await startProcess('measured', { file, databaseUrl, redisUrl, concurrency });
  const observer = new pg.Client(databaseUrl);
  const reporter = new pg.Client(databaseUrl);
  await Promise.all([observer.connect(), reporter.connect()]);
  const capacity = async () => {
    const { runs, seconds } = await measured.ask<Measurement>('measure', { seconds: capacitySeconds, concurrency });
    return runs / seconds;
  };
  await measured.ask('measure', { seconds: warmUpSeconds, concurrency });
  const before = await capacity();
  const runsPerSecond = before / 2;
  console.log(
    `\nA snapshot held for ${minutes} minutes, queue in ${name}: ${runsPerSecond.toFixed(0)} runs/s, half of the capacity of ${before.toFixed(0)}. Per run: CPU of all processes, WAL, commits`,
  );
  await measured.ask('start', { runsPerSecond });
  const observe = async (seconds: string): Promise<Interval> => {
    const end = await startInterval(servers, measured, () => readCounters(observer));
    await delay(intervalSeconds * 1_000);
    const interval = await end();
    printInterval(seconds, interval);
    return interval;
  };
  const free: Interval[] = [];
  for (let i = 0; i < intervalsBefore; i++) free.push(await observe('free'));
  await reporter.query('begin isolation level repeatable read');
  await reporter.query('select 1');
  const held: Interval[] = [];
  for (let at = intervalSeconds; at <= minutes * 60; at += intervalSeconds) held.push(await observe(`${at} s`));
  await measured.ask('rest');
  const whileHeld = await capacity();
  await reporter.query('commit');
  // the process and the machine may have become faster or slower since the beginning
  await observer.query('vacuum');
  printComparison(free, held.slice(-intervalsBefore), { before, held: whileHeld, after: await capacity() });
  await measured.stop();
  await Promise.all([observer.end(), reporter.end()]);
}
