import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Measurement } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { enter, start } from '../support/contestant.ts';
import { mean } from '../support/median.ts';
import { readServersCpu } from '../support/servers-cpu.ts';
import { drawFlames } from './draw.ts';
import { readStacks, type Samples, type Stacks } from './samples.ts';
import { sharesOf } from './shares.ts';

const seconds = 15;
const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));

/**
 * Where the time of a run goes that is alone: of two model calls that answer at once, and a tool. Samples the stacks of the worker's
 * process and of PostgreSQL with Linux's `perf`, draws them as a flame graph and prints what they come to.
 */
export async function flame(servers: Servers, out: string): Promise<void> {
  // the name that perf finds for each function that V8 compiles, in a file of its own per process
  process.env['NODE_OPTIONS'] = '--perf-basic-prof --interpreted-frames-native-stack';
  const system = await enter(servers, { name: 'lanefold', file, usesRedis: false });
  const { measured, stop } = await start(servers, system, 1);
  delete process.env['NODE_OPTIONS'];
  const folder = await mkdtemp(path.join(tmpdir(), 'lanefold-flame-'));
  try {
    await timeDisk(system.databaseUrl);
    await measured.ask('measure', { seconds: 10, concurrency: 1 });
    const plain = await measured.ask<Measurement>('measure', { seconds: 5, concurrency: 1 });
    const diskBefore = await readDisk(system.databaseUrl);
    const recordingOf = (name: string) => path.join(folder, name);
    const backends = await pidsOf(servers.pids.postgres);
    const cpu = readServersCpu(servers.pids);
    const [{ runs, runsMs, nodeCpuMs }] = await Promise.all([
      measured.ask<Measurement>('measure', { seconds, concurrency: 1 }),
      // V8 keeps frame pointers, PostgreSQL does not
      record(recordingOf('worker'), [measured.pid], 'fp'),
      record(recordingOf('postgres'), backends, 'dwarf,16384'),
    ]);
    const { postgresCpuMs = NaN } = cpu();
    const disk = await readDisk(system.databaseUrl);
    const syncs = (disk.syncs - diskBefore.syncs) / runs;
    const spentMs = { worker: nodeCpuMs / runs, postgres: postgresCpuMs / runs };
    const samples: Samples = new Map();
    for (const name of Object.keys(spentMs)) samples.set(name, await readStacks(recordingOf(name)));
    console.log(`\nMean of a run alone, in ms; the two processes also work at the same time:`);
    printLine('without samples', mean(plain.runsMs));
    printLine('with samples, of which', mean(runsMs));
    printLine('  CPU of the worker and its client', spentMs.worker);
    printLine('  CPU of PostgreSQL', spentMs.postgres);
    printLine(`  waiting for the disk, ${syncs.toFixed(1)} times`, (disk.ms - diskBefore.ms) / runs);
    for (const [name, cpuMs] of Object.entries(spentMs)) printShares(name, samples.get(name)!, cpuMs);
    await mkdir(path.dirname(out), { recursive: true });
    await writeFile(`${out}.svg`, drawFlames('CPU of a run alone, queue in PostgreSQL', samples));
    console.log(`Drawn in ${out}.svg`);
  } finally {
    await stop();
    await rm(folder, { recursive: true, force: true });
    await rm(path.join(tmpdir(), `perf-${measured.pid}.map`), { force: true });
  }
}

function printShares(name: string, stacks: Stacks, cpuMs: number): void {
  console.log(`${name}:`);
  for (const [what, share] of sharesOf(stacks)) printLine(`  ${what}`, share * cpuMs);
}

const printLine = (what: string, ms: number): void => console.log(`${what.padEnd(44)} ${ms.toFixed(2).padStart(6)}`);

/** How often, and for how many ms, clients of this server have waited so far for its log to reach the disk. */
async function readDisk(databaseUrl: string): Promise<{ syncs: number; ms: number }> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ syncs: number; ms: number }>(
      `select sum(fsyncs)::float8 as syncs, sum(fsync_time) as ms from pg_stat_io where object = 'wal' and backend_type = 'client backend'`,
    );
    return rows[0]!;
  } finally {
    await client.end();
  }
}

/** Has the server time how long its log takes to reach the disk. */
async function timeDisk(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('alter system set track_wal_io_timing = on');
  await client.query('select pg_reload_conf()');
  await client.end();
}

/** Samples processes while runs are measured. */
const record = (to: string, pids: readonly number[], graph: string): Promise<void> =>
  perf(
    ...['record', '-q', '-F', '999', '--call-graph', graph, '-p', pids.join(), '-o', to],
    ...['--', 'sleep', String(seconds)],
  );

/** A process and those that it has started. */
async function pidsOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.trim().split(' ').map(Number)];
}

/** @throws Error if the machine has no `perf`, or does not let this user sample it */
async function perf(...args: string[]): Promise<void> {
  const child = spawn('perf', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const [code] = await Promise.race([
    once(child, 'exit'),
    once(child, 'error').then(() => {
      throw new Error('This benchmark needs perf of Linux (Debian: apt install linux-perf).');
    }),
  ]);
  if (code !== 0) throw new Error(`perf cannot sample here: ${errors.trim()}`);
}
