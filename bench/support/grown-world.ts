import { createLanefold, defineAgent, defineTool, type Lanefold } from 'lanefold';
import type pg from 'pg';
import { inTurn } from './in-turn.ts';
import { until } from './until.ts';
import { instantModel } from '../workload.ts';

const threads = 200;
const runsOfThread = 10;

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { q: { type: 'number' } } },
  execute: ({ q }) => {
    if (Number(q) > 0) throw new Error('There is nothing.');
    return 'found';
  },
});

/** Agents whose runs look up once; some of their tools and models fail. */
export const agents = ['support', 'shop'].map((name) =>
  defineAgent({ name, model: 'bench:1', tools: [look], maxIterations: 10 }),
);
export const models = {
  bench(rounds: string) {
    if (rounds === 'none') return { ...instantModel(0), doStream: () => Promise.reject(new Error('Overturned.')) };
    return instantModel(Number(rounds));
  },
};

/**
 * Fills a database with 200 threads of ten runs, then copies them until it has as many runs as asked: row by row, each copy
 * some minutes older than the one before. Copies have no trace, as after the days for which traces are kept.
 */
export async function growWorld(url: string, pool: pg.Pool, runs: number): Promise<void> {
  const lanefold = await createLanefold({ databaseUrl: url, redisUrl: null, agents, models });
  await lanefold.startWorker({ concurrency: 20 });
  await inTurn(threads, 10, (n) => converse(lanefold, n));
  await counted(pool, threads * runsOfThread);
  await lanefold.close();
  await copyWorld(pool, Math.ceil(runs / (threads * runsOfThread)));
}

async function converse(lanefold: Lanefold, n: number): Promise<void> {
  const threadId = `thread-${n}`;
  for (let k = 0; k < runsOfThread; k++) {
    const place = n * runsOfThread + k;
    // of a hundred runs, one has a model that fails, and three a tool
    const model = place % 100 === 9 ? 'bench:none' : place % 33 === 5 ? 'bench:2' : 'bench:1';
    const run = await lanefold.runs.enqueue({
      agent: n % 3 === 0 ? 'shop' : 'support',
      threadId,
      createThread: true,
      input: `Where is my ${place % 500 === 9 ? 'umbrella' : 'order'} ${place}?`,
      model,
    });
    await lanefold.runs.wait(run).catch(() => {});
  }
}

/** Waits until the worker has counted these runs, some seconds after they ended. */
async function counted(pool: pg.Pool, runs: number): Promise<void> {
  const text = 'select coalesce(sum(runs), 0)::int as runs from lanefold.activity';
  const all = async () => (await pool.query<{ runs: number }>(text)).rows[0]!.runs >= runs;
  if (!(await until(all, { withinMs: 120_000 }))) throw new Error('the runs were not counted within two minutes');
}

const copied = ['thread', '_lane', '_run', '_entry', '_tool_call', '_run_mark'];
const minutesBetween = 20;

async function copyWorld(pool: pg.Pool, copies: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('set session_replication_role = replica; set synchronous_commit = off; set jit = off');
    for (const table of copied) await copyRows(client, table, copies - 1, `${minutesBetween} minutes`);
    // the counts by hour, of the same time
    const days = Math.ceil((copies * minutesBetween) / (24 * 60));
    for (const table of ['_activity', '_activity_fact']) await copyRows(client, table, days, '1 day');
  } finally {
    client.release(true);
  }
  await pool.query('vacuum analyze');
}

/** Each copy is a pause older than the one before, and of other threads. */
async function copyRows(client: pg.PoolClient, table: string, copies: number, pause: string): Promise<void> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = ('lanefold.' || $1)::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const key = table === 'thread' ? 'id' : 'thread_id';
  const value = ({ name, type }: { name: string; type: string }) => {
    if (name === key) return `s."${name}" || '-' || k`;
    return type === 'timestamp with time zone' ? `s."${name}" - k * interval '${pause}'` : `s."${name}"`;
  };
  await client.query(
    `insert into lanefold."${table}" (${rows.map(({ name }) => `"${name}"`).join(', ')})
     select ${rows.map(value).join(', ')} from lanefold."${table}" s, generate_series(1, ${copies}) k
     on conflict do nothing`,
  );
}
