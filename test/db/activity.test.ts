import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCounting } from '../../src/agent/models/counting.ts';
import { activity, waitOf } from '../../src/runs/operations/fleet/activity.ts';
import { activityCounts } from '../../src/worker/process/count-activity.ts';
import type { OpenWorker } from '../../src/worker/process/open-worker.ts';
import type { FleetActivity } from '../../src/database/store/worker/types.ts';
import { cases } from '../support/cases.ts';
import { until } from '../support/until.ts';
import { openLog, rows, value, type TestLog } from './helpers.ts';

let log: TestLog;
let client: pg.PoolClient;
/** How far the clock of `client` is ahead, in seconds. */
let ahead: number;
beforeAll(async () => {
  log = await openLog();
  client = await log.pool.connect();
});
afterAll(async () => {
  client.release();
  await log.drop();
});

beforeEach(async () => {
  await client.query(`truncate lanefold._run, lanefold._run_mark, lanefold._activity, lanefold._activity_fact`);
  await client.query(
    `update lanefold._activity_state set counted_to = null, began_at = null, filled_to = null, next_to = null, next_xid = null`,
  );
  await client.query("set lanefold.clock_offset = ''");
  ahead = 0;
});

/** Ten seconds later, for the session of the test: runs count some time after they ended. */
async function later(): Promise<void> {
  ahead += 10;
  await client.query(`set lanefold.clock_offset = '${ahead} seconds'`);
}

async function count(limit = 1_000, by: pg.ClientBase = client): Promise<boolean | null> {
  const { rows: found } = await by.query<{ more: boolean | null }>('select lanefold.count_activity($1) as more', [
    limit,
  ]);
  return found[0]!.more;
}

/** Counts all that has ended. Transactions of other databases of the server may have to end first. */
async function countAll(limit?: number): Promise<void> {
  await later();
  const counted = `select s.filled_to = '-infinity' and not exists (select from lanefold._run r where r.finished_at > s.counted_to
    and r.finished_at <= lanefold._now() - interval '10 seconds' and r.trace_dropped_at is null) as all from lanefold._activity_state s`;
  await later();
  await until('all is counted', async () => {
    while (await count(limit));
    return (await client.query<{ all: boolean | null }>(counted)).rows[0]!.all ?? false;
  });
}

interface NewRun {
  minutesAgo: number;
  agent?: string;
  version?: string | null;
  tenant?: string;
  status?: 'completed' | 'failed' | 'running' | 'waiting';
  /** Those of its own model. */
  tokens?: number;
  /** Those of another model. */
  other?: number;
  waitedMs?: number;
  dropped?: boolean;
}

/** A run that was accepted some time ago, and ended just now if it has. */
async function addRun(run: NewRun, by: pg.ClientBase = client): Promise<string> {
  const id = `t${randomUUID()}`;
  const { minutesAgo, agent = 'a', version = 'v1', tenant = 'default', status = 'completed', tokens = 0 } = run;
  const { other = 0, waitedMs, dropped = false } = run;
  const input = tokens + other;
  const usage = { input_tokens: input, output_tokens: 1, total_tokens: input + 1, cache_read_tokens: 2 };
  await by.query(
    `insert into lanefold._run (thread_id, id, tenant_id, request_hash, agent, agent_version, strategy, model, context_ref, status, active,
       created_at, started_at, finished_at, trace_dropped_at, usage, other_usage, iteration, result, error)
     select $1, 'r', $2, '', $3, $4, 'react', 'm', 'default', $5, $5 = 'running', c.at, c.at + $6::float8 * interval '1 ms', e.at,
       case when $7 then e.at end, $8, $9, 1, case when $5 = 'completed' then '{}'::jsonb end,
       case when $5 = 'failed' then '{"type": "bad"}'::jsonb end
     from (select lanefold._now() - $10::float8 * interval '1 minute' as at) c,
          (select case when $5 in ('completed', 'failed') then lanefold._now() end as at) e`,
    [
      id,
      tenant,
      agent,
      version,
      status,
      waitedMs ?? null,
      dropped,
      usage,
      other ? { o: { calls: 1, input_tokens: other, output_tokens: 0 } } : null,
      minutesAgo,
    ],
  );
  return id;
}

const end = (id: string, by: pg.ClientBase = client) =>
  by.query(
    `update lanefold._run set status = 'completed', active = false, finished_at = lanefold._now(), result = '{}' where thread_id = $1`,
    [id],
  );

const read = (period: Parameters<typeof activity>[2] = { hours: 24 * 6 }): Promise<FleetActivity> =>
  activity(log.db, createCounting({ priceOf: ({ inputTokens }) => inputTokens }), period);

const total = (found: FleetActivity, of: 'runs' | 'failed' | 'unfinished' | 'inputTokens' | 'cost'): number =>
  found.slots.reduce((sum, slot) => sum + slot[of], 0);

/** What the runs say themselves. */
async function direct(): Promise<object> {
  const [row] = await rows<object>(
    log.db,
    `select count(*)::int as runs, count(*) filter (where status = 'failed')::int as failed, count(*) filter (where finished_at is null)::int as unfinished,
       coalesce(sum((usage ->> 'input_tokens')::int), 0)::int as "inputTokens" from lanefold._run`,
  );
  return row!;
}

const told = (found: FleetActivity) => ({
  runs: total(found, 'runs'),
  failed: total(found, 'failed'),
  unfinished: total(found, 'unfinished'),
  inputTokens: total(found, 'inputTokens'),
});

const counted = (): Promise<number> =>
  value<number>(log.db, 'select coalesce(sum(runs), 0)::int from lanefold._activity where minutes = 60');

describe('counts of ended runs', () => {
  const newRun = fc.record({
    minutesAgo: fc.integer({ min: 1, max: 60 * 24 * 5 }),
    agent: fc.constantFrom('a', 'b'),
    version: fc.constantFrom('v1', 'v2', null),
    status: fc.constantFrom('completed' as const, 'failed' as const, 'running' as const, 'waiting' as const),
    tokens: fc.nat(1_000),
    other: fc.constantFrom(0, 5),
    dropped: fc.boolean(),
  });
  const act = fc.oneof(
    { weight: 4, arbitrary: newRun.map((run) => ({ do: 'add' as const, run })) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('count' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'end' as const }) },
  );

  test('and of those that are not counted yet are together what the runs say', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(newRun, { maxLength: 5 }), fc.array(act, { maxLength: 15 }), async (earlier, acts) => {
          const open: string[] = [];
          const add = async (run: NewRun) => {
            const id = await addRun(run);
            if (run.status === 'running' || run.status === 'waiting') open.push(id);
          };
          for (const run of earlier) await add({ ...run, dropped: run.dropped && run.status === 'completed' });
          for (const one of acts) {
            await later();
            if (one.do === 'add') await add({ ...one.run, dropped: false });
            else if (one.do === 'count') await count(one.limit);
            else if (open.length > 0) await end(open.pop()!);
          }
          await countAll(2);
          expect(told(await read())).toEqual(await direct());
          expect(await counted()).toBe(
            await value(log.db, 'select count(*)::int from lanefold._run where finished_at is not null'),
          );
          // the same runs in days and hours, and by version
          expect(told(await read({ hours: 24 * 90 }))).toEqual(await direct());
          for (const agent of ['a', 'b']) {
            const runs = await value(log.db, 'select count(*)::int from lanefold._run where agent = $1', agent);
            expect(total(await read({ hours: 144, agent }), 'runs')).toBe(runs);
          }
        })
        .beforeEach(async () => {
          await client.query('truncate lanefold._run, lanefold._run_mark, lanefold._activity, lanefold._activity_fact');
          await client.query(
            `update lanefold._activity_state set counted_to = null, began_at = null, filled_to = null, next_to = null, next_xid = null`,
          );
        }),
      { numRuns: cases(15) },
    );
  });

  test('at every moment once counting has begun', async () => {
    await countAll();
    for (let n = 0; n < 6; n++) {
      await addRun({ minutesAgo: n, status: n % 2 ? 'failed' : 'completed', tokens: n });
      const id = await addRun({ minutesAgo: 60 * n, status: 'running', tokens: 1 });
      await later();
      expect(told(await read())).toEqual(await direct());
      await count();
      if (n % 2) await end(id);
      expect(told(await read())).toEqual(await direct());
    }
  });

  test('wait for a transaction that ended a run earlier and commits later', async () => {
    await countAll();
    const id = await addRun({ minutesAgo: 5, status: 'running' });
    const slow = await log.pool.connect();
    await slow.query('begin');
    await slow.query(`set local lanefold.clock_offset = '${ahead} seconds'`);
    await end(id, slow);
    await addRun({ minutesAgo: 4 });
    for (let times = 0; times < 3; times++) {
      await later();
      await count();
    }
    expect(await counted()).toBe(0);
    expect(total(await read(), 'runs')).toBe(2);
    await slow.query('commit');
    slow.release();
    await countAll();
    expect(await counted()).toBe(2);
    expect(total(await read(), 'unfinished')).toBe(0);
  });

  test('are written once, also if a worker dies within a call and others try at the same time', async () => {
    await countAll();
    for (let n = 0; n < 4; n++) await addRun({ minutesAgo: n, tokens: 10 });
    await later();
    await count();
    await later();
    const dying = await log.pool.connect();
    await dying.query('begin');
    await dying.query(`set local lanefold.clock_offset = '${ahead} seconds'`);
    expect(await count(1_000, dying)).toBe(false);
    expect(await count()).toBeNull();
    await dying.query('rollback');
    dying.release();
    expect(await counted()).toBe(0);
    await countAll();
    await countAll();
    expect(await counted()).toBe(4);
    expect(total(await read(), 'inputTokens')).toBe(40);
  });

  test('read the runs that they count, and no others', async () => {
    const [id] = await Promise.all(Array.from({ length: 60 }, (_, n) => addRun({ minutesAgo: n, status: 'failed' })));
    await client.query('analyze lanefold._run');
    await client.query('begin');
    // with what the session has read before and not reported yet
    const read = async () => {
      const { rows: found } = await client.query<{ runs: number }>(
        "select (seq_tup_read + idx_tup_fetch)::int as runs from pg_stat_xact_user_tables where relname = '_run'",
      );
      return found[0]!.runs;
    };
    const before = await read();
    await client.query("select lanefold._add_activity(array[$1], array['r'])", [id]);
    const runs = (await read()) - before;
    await client.query('rollback');
    expect(runs).toBeLessThan(10);
  });

  test('are written by the sweeps of workers', async () => {
    for (const minutesAgo of [1, 70]) await addRun({ minutesAgo });
    await client.query("update lanefold._run set finished_at = finished_at - interval '30 seconds'");
    const part = activityCounts({ deps: { db: log.db } } as OpenWorker);
    await until('both are counted', async () => {
      await part.sweeps![0]!.work();
      return (await counted()) === 2;
    });
  });

  test('stay when the threads are erased', async () => {
    await addRun({ minutesAgo: 30 });
    await countAll();
    await client.query('delete from lanefold._run');
    expect(total(await read(), 'runs')).toBe(1);
  });

  test('include those of imported threads, which ended long ago, once', async () => {
    await countAll();
    const at = (await rows<{ at: Date }>(log.db, "select now() - interval '1 day' as at"))[0]!.at.toISOString();
    const run = {
      id: 'r',
      request_id: 'r',
      status: 'completed',
      agent: 'a',
      strategy: 'react',
      model: 'm',
      context_ref: 'default',
    };
    const p = {
      entries: [{ seq: 0, kind: 'ai_message', role: 'user', context_ref: 'default', payload: { content: 'x' } }],
      contents: [],
      request_hash: 'h',
      runs: [{ ...run, user_seq: 0, created_at: at, started_at: at, finished_at: at, usage: { input_tokens: 7 } }],
    };
    await rows(log.db, 'select lanefold.import_thread($1, $2)', 'imported', JSON.stringify(p));
    expect(total(await read(), 'runs')).toBe(1);
    await countAll();
    expect(total(await read(), 'runs')).toBe(1);
    expect(total(await read(), 'inputTokens')).toBe(7);
  });
});

describe('what is told', () => {
  test('of versions, errors, waiting, money and deploys', async () => {
    await rows(
      log.db,
      `insert into lanefold._agent_version (agent, id, label, definition, first_at, last_at)
       values ('a', 'v2', 'two', '{}', now() - interval '90 minutes', now())`,
    );
    await countAll();
    await addRun({ minutesAgo: 100, version: 'v1', tokens: 10, waitedMs: 1_000 });
    const failed = await addRun({ minutesAgo: 30, version: 'v2', status: 'failed', tokens: 20, waitedMs: 60_000 });
    await addRun({ minutesAgo: 30, version: 'v2', tokens: 25, other: 5, waitedMs: 60_000 });
    await addRun({ minutesAgo: 30, agent: 'b', tenant: 'acme', status: 'running', waitedMs: 10 });
    await rows(log.db, 'update lanefold._run set notable = true where thread_id = $1', failed);
    await rows(
      log.db,
      `insert into lanefold._run_mark (thread_id, run_id, kind, count, created_at, agent) values ($1, 'r', 'tool_failed', 3, now(), 'a')`,
      failed,
    );
    for (const step of [async () => {}, countAll]) {
      await step();
      const found = await read({ hours: 6, agent: 'a' });
      expect(found.slotMinutes).toBe(10);
      expect(found.errors).toEqual([{ type: 'bad', runs: 1, lastAt: expect.any(Date) as Date }]);
      expect(found.deploys).toEqual([{ at: expect.any(Date) as Date, agent: 'a', version: 'v2', label: 'two' }]);
      expect(found.agents).toMatchObject([
        { agent: 'a', version: 'v2', runs: 2, failed: 1, inputTokens: 50, cost: 50 },
        expect.objectContaining({ runs: 1 }),
        expect.objectContaining({ runs: 1 }),
      ]);
      expect(total(found, 'cost')).toBe(60);
      expect(found.slots).toHaveLength(2);
      expect(found.slots[1]).toMatchObject({ runs: 2, failed: 1, marks: [{ mark: 'tool_failed', runs: 1 }] });
      expect(found.slots[1]!.waitP50Ms).toBeGreaterThan(42_000);
      expect(found.slots[1]!.waitP95Ms).toBeLessThan(85_000);
      expect(total(await read({ hours: 6, version: 'v1' }), 'runs')).toBe(2);
    }
    const since = new Date(Date.now() - 2 * 3_600_000);
    expect(total(await read({ since, until: new Date(since.getTime() + 3_600_000) }), 'runs')).toBe(1);
    await rows(log.db, 'delete from lanefold._agent_version');
  });

  test('from the view by a reader of one tenant, of its own runs', async () => {
    await addRun({ minutesAgo: 30, tenant: 'acme' });
    await addRun({ minutesAgo: 30, tenant: 'bolt' });
    await countAll();
    const role = `reader_${randomUUID().slice(0, 8)}`;
    await client.query(`create role ${role}`);
    await client.query('select lanefold.grant_role($1, $2, $3)', [role, 'reader', 'acme']);
    await client.query('begin');
    await client.query(`set local session authorization ${role}`);
    const { rows: seen } = await client.query('select tenant_id, runs::int from lanefold.activity');
    await client.query('rollback');
    await client.query('select lanefold.revoke_role($1)', [role]);
    await client.query(`drop role ${role}`);
    expect(seen).toEqual([{ tenant_id: 'acme', runs: 1 }]);
  });

  test('since the time after which all runs are counted, while older ones are still to be', async () => {
    for (const days of [1, 2, 3, 4]) await addRun({ minutesAgo: days * 1440 });
    await later();
    await until('counting has begun', async () => (await count(2)) ?? false);
    const found = await read();
    const known = await value(log.db, 'select count(*)::int from lanefold._run where created_at >= $1', found.since);
    expect(total(found, 'runs')).toBe(known);
    expect(found.since.getTime()).toBeGreaterThan(Date.now() - 3 * 86_400_000);
    await countAll();
    expect(total(await read(), 'runs')).toBe(4);
  });

  test('empty periods are refused', async () => {
    const at = new Date();
    await expect(read({ since: at, until: at })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(read({ since: at, hours: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(read({ since: new Date(0) })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

test('a share of the waits lies within a step of the truth', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 50 }),
      fc.constantFrom(0.5, 0.95),
      (waits, share) => {
        const step = (ms: number) => String(Math.round(2 ** (Math.ceil(2 * Math.log2(ms)) / 2)));
        const facts = waits.map((ms) => ({ fact: 'wait' as const, value: step(ms), runs: 1 }));
        const truth = waits.toSorted((a, b) => a - b)[Math.ceil(share * waits.length) - 1]!;
        const estimate = waitOf(facts, share)!;
        expect(estimate).toBeGreaterThanOrEqual(Math.floor(truth / 1.5) - 1);
        expect(estimate).toBeLessThanOrEqual(Math.ceil(truth * 1.5) + 1);
      },
    ),
  );
});
