import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/postgres/pool.ts';
import { countRuns } from '../../src/database/store/run/count-runs.ts';
import { findExpiredRuns } from '../../src/database/store/run/find-expired-runs.ts';
import { findAgentQueues } from '../../src/database/store/run/find-agent-queues.ts';
import { findOldestDue } from '../../src/database/store/run/find-oldest-due.ts';
import { findQueuedRuns } from '../../src/database/store/run/find-queued-runs.ts';
import { findStrandedRuns } from '../../src/database/store/run/find-stranded-runs.ts';
import { findUnknownAgents } from '../../src/database/store/run/find-unknown-agents.ts';
import type { SweepLimits } from '../../src/database/store/run/sweep-limits.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { newThread, openLog, rows, value, type TestLog } from './helpers.ts';
import { rowsReadOf, type Explained } from './plan.ts';
import { asks, results, sqlRun } from './sql-run.ts';
import { findExpiredWaits } from '../../src/database/store/wait/expire-waits.ts';

let log: TestLog;
beforeAll(async () => {
  log = await openLog();
  await fill('suspended', 3_000, { suspended_until: "clock_timestamp() + interval '7 days'" });
  await fill('suspended', 3, { suspended_until: "clock_timestamp() - interval '1 s'" });
  await fill('completed', 3_000, { finished_at: 'clock_timestamp()' });
  await fill('queued', 300, {});
  await fill('running', 20, { lease_until: "clock_timestamp() + interval '1 minute'" });
  await fill('running', 4, { lease_until: "clock_timestamp() - interval '1 minute'" });
  await rows(log.db, 'analyze lanefold._run');
});
afterAll(() => log.drop());

let filled = 0;
/** Makes threads with one run each, given to the queue an hour ago. */
const fill = (status: string, count: number, { agent = "'a'", ...columns }: Record<string, string>) => {
  const names = Object.keys(columns).map((name) => `, ${name}`);
  const values = Object.values(columns).map((value) => `, ${value}`);
  return rows(
    log.db,
    `insert into lanefold._run (thread_id, id, request_hash, agent, strategy, model, context_ref, status, active, created_at, enqueued_at
       ${names.join('')})
     select 'fill-${++filled}-' || n, 'run', '', ${agent}, 'react', 'm', 'default', $1, $1 <> 'completed', at, at ${values.join('')}
     from generate_series(1, $2) n, (select clock_timestamp() - interval '1 hour' as at) c`,
    status,
    count,
  );
};

const limits: SweepLimits = {
  graceMs: 0,
  cancelGraceMs: 0,
  queuePrefix: 'lf',
  adoptMs: 300_000,
  adoptable: [],
  known: { agents: [], strategies: [], versions: [], tools: [] },
};

/** How many rows of `_run` a look-up reads. */
async function rowsRead(
  find: (db: Database) => Promise<unknown>,
  explain = (text: string, values: unknown[]) => rows<Explained>(log.db, text, ...values),
) {
  let read = 0;
  const query = async (_: string, text: string, values: unknown[] = []) => {
    const [explained] = await explain(`explain (analyze, format json) ${text}`, values);
    read += rowsReadOf('_run', explained!);
    return [];
  };
  await find({ query, queryLong: query, settings: { distributed: false } } as unknown as Database);
  return read;
}

/** Which runs a look-up of the sweep finds, and how many rows of `_run` it reads for them. */
const measured = async (find: (db: Database) => Promise<{ run_id: string }[]>) => {
  const found = await find(log.db);
  return { found: found.length, read: await rowsRead(find) };
};

test.skipIf(citusLacks.plans)('the look-up of expired leases reads no run that is suspended or has ended', async () => {
  expect(await measured((db) => findStrandedRuns(db, limits, 100))).toEqual({ found: 4, read: 324 });
});

test.skipIf(citusLacks.plans)(
  'the look-up of queued runs reads no more than it returns and the running ones',
  async () => {
    const { found, read } = await measured((db) => findQueuedRuns(db, limits, 50));
    expect(found).toBe(50);
    expect(read).toBeLessThanOrEqual(50 + 24);
  },
);

test.skipIf(citusLacks.plans)('the look-up of overdue approvals reads those only', async () => {
  expect(await measured((db) => findExpiredWaits(db, limits, 100))).toEqual({ found: 3, read: 3 });
});

test.skipIf(citusLacks.plans)('no other look-up of a sweep, and no metric, reads a run that has ended', async () => {
  const client = await log.pool.connect();
  // among few runs the planner prefers to read them all; what counts is whether an index leaves out those that have ended
  await client.query('set enable_seqscan = off');
  const explain = async (text: string, values: unknown[]) => (await client.query<Explained>(text, values)).rows;
  try {
    expect(await rowsRead((db) => findExpiredRuns(db, 100), explain)).toBe(0);
    const known = { agents: ['a'], strategies: ['react'], versions: [], tools: [] };
    const due = 324;
    expect(await rowsRead((db) => findAgentQueues(db, known), explain)).toBe(due);
    expect(await rowsRead((db) => findUnknownAgents(db, 'lf'), explain)).toBe(due);
    const suspended = 3_003;
    expect(await rowsRead((db) => countRuns(db), explain)).toBe(due + suspended);
  } finally {
    client.release(true);
  }
});

test.skipIf(citusLacks.plans)('a look-up from some time on reads no run given to the queue before', async () => {
  const client = await log.pool.connect();
  await client.query('set enable_seqscan = off');
  const explain = async (text: string, values: unknown[]) => (await client.query<Explained>(text, values)).rows;
  const since = 'now';
  const read = (find: (db: Database) => Promise<unknown>) => rowsRead(find, explain);
  try {
    expect(await read((db) => findStrandedRuns(db, { ...limits, since }, 100))).toBe(0);
    expect(await read((db) => findQueuedRuns(db, { ...limits, since }, 100))).toBe(0);
    expect(await read((db) => findAgentQueues(db, limits.known, since))).toBe(0);
    expect(await read((db) => findUnknownAgents(db, 'lf', since))).toBe(0);
  } finally {
    client.release(true);
  }
});

test('the oldest run that is due bounds what a sweep has to read, with some seconds to spare', async () => {
  const since = await findOldestDue(log.db);
  const oldest = await value<Date>(
    log.db,
    `select min(enqueued_at) from lanefold._run where status in ('queued', 'running')`,
  );
  expect(oldest.getTime() - new Date(since).getTime()).toBe(15_000);
  // runs of one moment come in no order
  const sorted = <T extends { thread_id: string }>(runs: T[]) =>
    runs.sort((a, b) => (a.thread_id < b.thread_id ? -1 : 1));
  for (const find of [findStrandedRuns, findQueuedRuns])
    expect(sorted(await find(log.db, { ...limits, since }, 1_000))).toEqual(sorted(await find(log.db, limits, 1_000)));
});

test('a fleet finds the runs of another one whose strategy it knows, chosen ones included', async () => {
  await fill('queued', 1, { agent: "'b'" });
  await fill('queued', 1, { agent: "'b'", options: `'{"selection": {"strategy": "own"}}'` });
  await fill('running', 1, { agent: "'b'", lease_until: "clock_timestamp() - interval '1 hour'" });
  await fill('suspended', 1, { agent: "'b'", suspended_until: "clock_timestamp() - interval '1 hour'" });
  const found = async (...strategies: string[]) => {
    const other = {
      ...limits,
      queuePrefix: 'other',
      adoptable: ['b'],
      known: { agents: ['b'], strategies, versions: [], tools: [] },
    };
    const runs = [
      findQueuedRuns(log.db, other, 9),
      findStrandedRuns(log.db, other, 9),
      findExpiredWaits(log.db, other, 9),
    ];
    return (await Promise.all(runs)).map((of) => of.length);
  };
  expect(await found('react')).toEqual([1, 1, 1]);
  expect(await found('own')).toEqual([1, 0, 0]);
  expect(await found('react', 'own')).toEqual([2, 1, 1]);
  expect(await found()).toEqual([0, 0, 0]);
});

test.skipIf(citusLacks.plans)('no claim, step or renewal of a run touches an index', async () => {
  const threadId = await newThread(log);
  const client = await log.pool.connect();
  const db: Database = { ...log.db, query: async (_, text, values) => (await client.query(text, values)).rows };
  const updates = () =>
    value<number[]>(
      db,
      `select array[pg_stat_get_xact_tuples_updated(c), pg_stat_get_xact_tuples_hot_updated(c)]::int[]
       from (select 'lanefold._run'::regclass::oid as c) o`,
    );
  try {
    await client.query('begin');
    const run = sqlRun(db, threadId, 'run');
    await run.enqueue();
    await run.claim();
    await run.commit(0, asks(['a']));
    await run.record(1, 0, { status: 'ok', attempts: 1, outcome: { content: 'x' } });
    await run.renew();
    await run.commit(1, results(['a']));
    expect(await updates()).toEqual([5, 5]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
