import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createLanefold } from 'lanefold';
import pg from 'pg';
import { onStatement } from '../src/database/postgres/run-query.ts';
import { delay } from '../src/base/common/timer.ts';
import type { Servers } from './setup.ts';
import { plotGrowth, type Measured, type Times } from './support/growth-plot.ts';
import { agents, growWorld, models } from './support/grown-world.ts';
import { inTurn } from './support/in-turn.ts';
import { median } from './support/median.ts';

const visits = 9;
const idleMs = 30_000;
const agent = agents[0]!.name;

/** Lists as the page asks for them, by what they are for. */
const lists: [what: string, path: string][] = [
  ['threads', 'threads?order=asked'],
  ['threads with a failed run', 'threads?status=failed'],
  ['threads with a mark', 'threads?mark=tool_failed'],
  ['threads of an agent', `threads?order=asked&agent=${agent}`],
  ['threads with a rare word', 'threads?text=umbrella'],
  ['threads with a common word', 'threads?text=order'],
  ['threads with an unknown word', 'threads?text=nothing'],
  ['threads with metadata', 'threads?metadata=%7B%22plan%22%3A%22free%22%7D'],
  ['runs', 'runs'],
  ['failed runs', 'runs?status=failed'],
  ['runs with a mark', 'runs?mark=tool_failed'],
  ['runs with a common word', 'runs?text=order'],
  ['runs of an unknown model', 'runs?model=none'],
  ['counts of runs', 'runs/counts'],
  ['counts of failed runs', 'runs/counts?status=failed'],
  ['a thread', 'threads/thread-1'],
  ['its entries', 'threads/thread-1/entries'],
  ['activity of a day', 'activity?hours=24'],
  ['activity of 30 days', 'activity?hours=720'],
  ['versions of an agent', `agents/${agent}/versions`],
  ['approvals', 'approvals'],
  ['schedules', 'schedules'],
  ['limits and their keys', 'limits?limit=20'],
  ['webhooks', 'webhooks'],
  ['alarms', 'alarms'],
  ['audit', 'audit'],
  ['feedback', 'feedback'],
  ['workers', 'workers'],
];

interface World {
  url: string;
  entries: number;
}

/**
 * What lists, views and the sweeps of a worker take in databases with many threads, runs, schedules and keys of limits, compared with a
 * small one. All are filled before the first is measured, so that what else the machine does meets all alike.
 *
 * @param runs sizes, ascending
 * @param out a file for the plot, without `.svg`
 */
export async function growth(servers: Servers, { runs, out }: { runs: readonly number[]; out: string }): Promise<void> {
  const worlds = [await grow(servers, { runs: 2_000, schedules: 10, keys: 100 })];
  for (const size of runs) worlds.push(await grow(servers, { runs: size, schedules: 10_000, keys: 100_000 }));
  const measured: Measured[] = [];
  for (const { url, entries } of worlds) measured.push({ entries, times: await timesOf(url) });
  const sizes = measured.map(({ entries }) => entries);
  console.log(
    `\nms, median, by entries${sizes.map((entries) => String(entries).padStart(12)).join('')}   last to first (goal 2)`,
  );
  for (const [what, first] of measured[0]!.times) {
    const all = measured.map(({ times }) => times.get(what) ?? NaN);
    const cells = all.map((ms) => ms.toFixed(1).padStart(12)).join('');
    console.log(`${what.padEnd(35)}${cells}${(all.at(-1)! / first).toFixed(1).padStart(12)}`);
  }
  await mkdir(path.dirname(out), { recursive: true });
  await writeFile(`${out}.svg`, plotGrowth('Lists, views and sweeps: ms, by entries in the database', measured));
  console.log(`\n${out}.svg`);
}

async function grow(servers: Servers, size: { runs: number; schedules: number; keys: number }): Promise<World> {
  const url = await servers.database();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await growWorld(url, pool, size.runs);
  await setUp(url, pool, size);
  await pool.query('vacuum analyze');
  const { rows } = await pool.query<{ entries: string; bytes: string }>(
    'select (select count(*) from lanefold._entry) entries, pg_database_size(current_database()) bytes',
  );
  await pool.end();
  const { entries, bytes } = rows[0]!;
  console.log(`\n${size.runs} runs, ${entries} entries, ${(Number(bytes) / 1e9).toFixed(1)} GB`);
  return { url, entries: Number(entries) };
}

async function timesOf(url: string): Promise<Times> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const times: Times = new Map();
  await readLists(url, times);
  await readViews(pool, times);
  await sweep(url, times);
  await pool.end();
  return times;
}

async function setUp(url: string, pool: pg.Pool, size: { schedules: number; keys: number }): Promise<void> {
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents, models });
  await inTurn(size.schedules, 20, (n) =>
    lanefold.schedules.set(`schedule-${n}`, { agent, input: 'Look.', cron: `${n % 60} 3 1 1 *` }),
  );
  await lanefold.limits.set('slots', { kind: 'concurrency', amount: 1_000, scope: { customer: '*' } });
  await pool.query(
    `insert into lanefold._limit_bucket (owner, name, key, slice, used, reserved, total, touched_at, waiting, ring)
     select '*', 'slots', 'k' || n, 0, n % 900, 0, n, now(), 0, array[n] from generate_series(1, $1::int) n`,
    [size.keys],
  );
  await lanefold.close();
}

async function readLists(url: string, times: Times): Promise<void> {
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents, models });
  const server = await lanefold.startServer({ port: 0 });
  for (const [what, path] of lists) {
    await record(times, what, async () => {
      const response = await fetch(`${server.url}/v1/${path}`);
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
      await response.arrayBuffer();
    });
  }
  await server.close();
  await lanefold.close();
}

/** Each public view that has a thread, asked for one. */
async function readViews(pool: pg.Pool, times: Times): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'thread_id'
     where c.relnamespace = 'lanefold'::regnamespace and c.relkind = 'v' and c.relname not like '\\_%' order by 1`,
  );
  for (const { name } of rows)
    await record(times, `view ${name}`, () =>
      pool.query(`select * from lanefold.${name} where thread_id = 'thread-1'`),
    );
}

/** The statements of a worker that finds nothing to do. */
async function sweep(url: string, times: Times): Promise<void> {
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents, models });
  await lanefold.startWorker();
  const taken = new Map<string, number[]>();
  const stop = onStatement(({ name, answer }) => {
    const from = performance.now();
    const note = () => taken.set(name, [...(taken.get(name) ?? []), performance.now() - from]);
    answer.then(note, note);
  });
  await delay(idleMs);
  stop();
  await lanefold.close();
  for (const [name, all] of [...taken].toSorted()) if (name !== '') times.set(`sweep ${name}`, median(all));
}

async function record(times: Times, what: string, work: () => Promise<unknown>): Promise<void> {
  const taken: number[] = [];
  for (let n = -1; n < visits; n++) {
    const from = performance.now();
    await work();
    if (n >= 0) taken.push(performance.now() - from);
  }
  times.set(what, median(taken));
}
