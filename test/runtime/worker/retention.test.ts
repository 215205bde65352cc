import { defineAgent, defineTool, type RunHandle } from 'lanefold';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase, type Database } from '../../../src/database/postgres/pool.ts';
import { traceRetention } from '../../../src/worker/process/background.ts';
import { dropTraces } from '../../../src/database/store/trace/drop-traces.ts';

import { contextOf, entriesOf, eventsOf, expectSound, ledgerOf } from '../../support/log.ts';
import { until } from '../../support/until.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });

describe('old traces', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    // its worker drops nothing: each test starts what does
    runtime = await startRuntime([defineAgent({ name: 'keeper', model: unset, tools: [look] })], {
      worker: { traceRetentionDays: 0 },
    });
  });
  afterEach(() => void delete process.env['LANEFOLD_TRACE_RETENTION_DAYS']);
  afterAll(() => runtime?.close());

  const runKeeper = (threadId: string, requestId: string, more = {}) => {
    const { id: model } = runtime.model([{ calls: [{ name: 'look' }] }, { text: 'done' }]);
    return runtime.run({ agent: 'keeper', model, input: 'go', threadId, createThread: true, requestId, ...more });
  };
  const age = (run: RunHandle, days: number) =>
    runtime.database.pool.query(
      "update lanefold._run set finished_at = now() - $3 * interval '1 day' where thread_id = $1 and id = $2",
      [run.threadId, run.id, days],
    );
  const row = async (run: RunHandle) => {
    const { rows } = await runtime.database.pool.query<Record<string, unknown>>(
      'select * from lanefold.run where thread_id = $1 and id = $2',
      [run.threadId, run.id],
    );
    return rows[0]!;
  };
  const drop = async (days: number, limit = 100) => {
    const db = openDatabase({ url: runtime.database.url });
    try {
      return (await dropTraces(db, days, limit)).dropped;
    } finally {
      await db.close();
    }
  };

  test('are dropped by any worker; entries, context and ledger stay', async () => {
    const old = await runKeeper('t-1', 'q-1');
    const concise = runtime.model([{ text: '1. Two and three.\n#### five' }]);
    const concluded = await runKeeper('t-1', 'q-2', { model: concise.id, strategy: 'cot' });
    const recent = await runKeeper('t-1', 'q-3');
    await age(old, 31);
    await age(concluded, 31);
    await age(recent, 29);
    const before = {
      entries: await entriesOf(runtime, 't-1'),
      context: await contextOf(runtime, 't-1'),
      ledger: await ledgerOf(runtime, 't-1'),
      recent: await eventsOf(runtime, 't-1', recent.id),
    };
    expect(concluded.run).toMatchObject({ terminationReason: 'success', result: 'five' });

    const worker = await runtime.startWorker({ sweepMs: 20 });
    await until('the old traces are gone', async () => (await row(concluded))['trace_dropped_at']);
    await worker.stop();

    expect(await runtime.runs.events(old)).toEqual([]);
    expect(await eventsOf(runtime, 't-1')).toEqual(before.recent);
    expect(await runtime.threads.events('t-1')).toHaveLength(before.recent.length);
    expect(await row(old)).toMatchObject({
      status: 'completed',
      result: 'done',
      state: null,
      trace_dropped_at: expect.any(Date),
    });
    expect(await row(concluded)).toMatchObject({
      status: 'completed',
      termination_reason: 'success',
      result: null,
    });
    expect(await row(recent)).toMatchObject({ result: 'done', trace_dropped_at: null });
    expect(await entriesOf(runtime, 't-1')).toEqual(before.entries);
    expect(await contextOf(runtime, 't-1')).toEqual(before.context);
    expect(await ledgerOf(runtime, 't-1')).toEqual(before.ledger);
    await expectSound(runtime, 't-1');

    const again = await runtime.runs.enqueue({
      agent: 'keeper',
      model: old.run.model,
      input: 'go',
      threadId: 't-1',
      requestId: 'q-1',
    });
    expect(again).toMatchObject({ id: old.id, duplicate: true, status: 'completed' });
    const next = await runKeeper('t-1', 'q-4');
    expect((await eventsOf(runtime, 't-1', next.id))[0]!.event_seq).toBe(before.recent.at(-1)!.event_seq + 1);
    await expectSound(runtime, 't-1');
  });

  test('are dropped in batches, oldest first, each once, and not while their thread is locked', async () => {
    const runs = [await runKeeper('t-2', 'a'), await runKeeper('t-2', 'b'), await runKeeper('t-2', 'c')];
    for (const [i, run] of runs.entries()) await age(run, 90 - i);
    const kept = async () => (await Promise.all(runs.map(row))).map((run) => run['trace_dropped_at'] === null);
    const client = await runtime.database.pool.connect();
    try {
      await client.query('begin');
      await client.query("select 1 from lanefold.thread where id = 't-2' for update");
      expect(await drop(60)).toBe(0);
      expect(await kept()).toEqual([true, true, true]);
      // the locked thread does not hold up newer traces of other threads
      const other = await runKeeper('t-4', 'a');
      await age(other, 70);
      expect(await drop(60, 1)).toBe(1);
      expect((await row(other))['trace_dropped_at']).not.toBeNull();
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await drop(60, 2)).toBe(2);
    expect(await kept()).toEqual([false, false, true]);
    expect(await drop(60, 2)).toBe(1);
    expect(await drop(60, 2)).toBe(0);
    await expectSound(runtime, 't-2');
  });

  /** Makes threads with one run each that ended long before those of the other tests. */
  const fill = (prefix: string, count: number) =>
    runtime.database.pool.query(
      `with threads as (
         insert into lanefold.thread (id, tenant_id, created_at, updated_at)
         select $1 || n, 'default', clock_timestamp(), clock_timestamp() from generate_series(1, $2::int) n returning id)
       insert into lanefold._run
         (thread_id, id, request_hash, agent, strategy, model, context_ref, status, active, created_at, finished_at)
       select id, 'run', '', 'keeper', 'react', 'm', 'default', 'completed', false, at, at
       from threads, (select clock_timestamp() - interval '300 days' as at) c`,
      [prefix, count],
    );
  const keptOf = async (prefix: string) => {
    const { rows } = await runtime.database.pool.query<{ kept: number }>(
      `select count(*) filter (where trace_dropped_at is null)::int as kept from lanefold._run where thread_id like $1 || '%'`,
      [prefix],
    );
    return rows[0]!.kept;
  };

  test('are dropped batch by batch while there are any and the time lasts', async () => {
    const db = openDatabase({ url: runtime.database.url });
    try {
      await fill('many-', 1_200);
      await traceRetention(db, 200, 0)();
      expect(await keptOf('many-')).toBe(700);
      await traceRetention(db, 200, 60_000)();
      expect(await keptOf('many-')).toBe(0);
    } finally {
      await db.close();
    }
  });

  test('are dropped by one worker at a time, and each once', async () => {
    const [one, other] = [1, 2].map(() => openDatabase({ url: runtime.database.url })) as [Database, Database];
    try {
      await fill('shared-', 500);
      const client = await runtime.database.pool.connect();
      await client.query("begin; select pg_advisory_xact_lock(hashtextextended('lanefold retention', 0))");
      expect(await dropTraces(one, 200, 100)).toEqual({ due: 500, dropped: 0, leftToOther: true });
      await client.query('rollback');
      client.release();
      let dropped = 0;
      for (let left = 500; left > 0; left = await keptOf('shared-')) {
        const both = await Promise.all([dropTraces(one, 200, 100), dropTraces(other, 200, 100)]);
        dropped += both[0].dropped + both[1].dropped;
      }
      expect(dropped).toBe(500);
    } finally {
      await one.close();
      await other.close();
    }
  });

  test('are kept forever with 0 days; invalid settings are rejected', async () => {
    const run = await runKeeper('t-3', 'a');
    await age(run, 10_000);
    const db = openDatabase({ url: runtime.database.url });
    await traceRetention(db, 0, 0)();
    expect(await eventsOf(runtime, 't-3')).not.toEqual([]);
    await traceRetention(db, 9_999, 0)();
    expect(await eventsOf(runtime, 't-3')).toEqual([]);
    await db.close();

    const refused = { code: 'invalid_input', hint: expect.stringContaining('LANEFOLD_TRACE_RETENTION_DAYS') };
    for (const traceRetentionDays of [-1, NaN, Infinity]) {
      await expect(runtime.startWorker({ traceRetentionDays })).rejects.toMatchObject(refused);
    }
    process.env['LANEFOLD_TRACE_RETENTION_DAYS'] = 'a month';
    await expect(runtime.startWorker()).rejects.toMatchObject(refused);
    for (const maxTraceEvents of [0, 1.5, NaN]) {
      await expect(runtime.startWorker({ maxTraceEvents, traceRetentionDays: 0 })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    }
  });
});
