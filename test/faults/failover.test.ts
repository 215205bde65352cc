// @module-tag long
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, defineTool, type Lanefold } from 'lanefold';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startProxy, type Proxy } from '../../src/ops/chaos/services/proxy.ts';
import {
  detach,
  makeAsynchronous,
  makeSynchronous,
  promote,
  replicationSettings,
  startStandby,
} from '../../src/ops/chaos/services/postgres.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { fakeModel } from '../support/fake-model.ts';
import type { TestLanefold } from '../support/lanefold.ts';
import { expectSound, ledgerOf } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { openPool } from '../support/pool.ts';

const runs = 6;

describe('a failover to a standby', () => {
  let dir: string;
  let primary: EmbeddedPostgres;
  let standby: EmbeddedPostgres;
  let current: EmbeddedPostgres;
  let proxy: Proxy;
  let lanefold: Lanefold;
  /** Reads the server that the proxy leads to. */
  let inspected: TestLanefold;
  let pool: pg.Pool;
  const ends: string[] = [];
  /** What the model waits for before it answers, by the number of its turn. */
  let gates: ReturnType<typeof deferred<void>>[];
  let asked: number[];
  const errors: unknown[] = [];

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-failover-'));
    await chmod(dir, 0o711);
    [primary] = [await startEmbeddedPostgres({ dir: path.join(dir, 'a'), settings: replicationSettings })];
    current = primary;
    gates = [deferred(), deferred(), deferred()];
    asked = [0, 0, 0];
    proxy = await startProxy(() => ({ port: current.port }));
    // no two calls get the same answer, so that a worker that continues from another's shows in the hashes
    const model = fakeModel(async ({ prompt }, n) => {
      const turn = prompt.filter((message) => message.role === 'tool').length;
      asked[turn]! += 1;
      await gates[turn]!.promise;
      return turn < 2 ? { calls: [{ id: `c${n}`, name: turn === 0 ? 'look' : 'charge' }] } : { text: 'done' };
    });
    const tool = (name: string, replay: 'safe' | 'never') =>
      defineTool({ name, replay, input: { type: 'object' }, execute: () => 'seen' });
    const url = new URL(primary.url);
    url.port = String(proxy.port);
    lanefold = await createLanefold({
      databaseUrl: url.href,
      redisUrl: null,
      queuePrefix: `t${randomBytes(4).toString('hex')}`,
      privateQueue: true,
      migrate: true,
      agents: [defineAgent({ name: 'a', model: 'fake', tools: [tool('look', 'safe'), tool('charge', 'never')] })],
      models: { fake: model },
    });
    standby = await startStandby(primary, path.join(dir, 'b'), replicationSettings);
    pool = openPool({ connectionString: url.href, max: 2 });
    inspected = { ...lanefold, database: { pool } } as TestLanefold;
  });
  afterEach(async () => {
    for (const gate of gates ?? []) gate.resolve();
    await lanefold?.close();
    await pool?.end();
    await proxy?.close();
    await standby?.stop();
    await primary?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const startWorker = (leaseMs = 2_000) =>
    lanefold.startWorker({
      leaseMs,
      sweepMs: 200,
      onError: (error) => errors.push(error),
      onRunEnd: ({ runId, status }) => ends.push(`${runId} ${status}`),
    });

  const enqueue = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => lanefold.runs.enqueue({ agent: 'a', input: `run ${i}` })));

  const switchOver = () => {
    current = standby;
    proxy.reset();
  };

  test('that lacks the last commits drops runs that are ahead of it, and their next claim ends them', async () => {
    await startWorker();
    const kept = await enqueue(runs);
    await until('all runs wait for their first answer', () => asked[0] === runs);
    await detach(standby);
    // lost: the steps of these runs, and other runs with their threads
    gates[0]!.resolve();
    await until('all runs wait for their second answer', () => asked[1] === runs);
    const lost = await enqueue(3);
    await until('the lost runs do too', () => asked[1] === runs + 3);

    // what reads, reads from a standby as well
    const reader = new pg.Client({ connectionString: standby.url });
    await reader.connect();
    const id = kept[0]!.threadId;
    const view = await reader.query('select content from lanefold.lane_context where thread_id = $1', [id]);
    const called = await reader.query("select content from lanefold.lane_context_at($1, 'default', 0)", [id]);
    expect([view.rows.at(-1), called.rows.at(-1)]).toEqual([{ content: 'run 0' }, { content: 'run 0' }]);
    await reader.end();

    await promote(standby);
    switchOver();
    for (const gate of gates) gate.resolve();
    for (const run of kept)
      expect(await lanefold.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'done',
      });
    for (const run of lost) {
      await expect(lanefold.runs.get(run)).rejects.toMatchObject({ code: 'run_not_found' });
      expect(ends.filter((end) => end.startsWith(run.id))).toEqual([]);
    }
    for (const { threadId } of kept) {
      expect((await ledgerOf(inspected, threadId)).map((row) => `${row.name} ${row.status}`)).toEqual([
        'look ok',
        'charge ok',
      ]);
      await expectSound(inspected, threadId);
    }
    // the worker is as it was
    const [after] = await enqueue(1);
    expect(await lanefold.runs.wait(after!)).toMatchObject({ status: 'completed' });
  });

  test('that lacks a claim tells it from the next one, which has the run for itself', async () => {
    await makeSynchronous(primary);
    const accepted = await enqueue(runs);
    await makeAsynchronous(primary);
    await detach(standby);
    const [first, second] = [await startWorker(24_000), await startWorker(24_000)];
    await until('all runs wait for their first answer', () => asked[0] === runs);
    await promote(standby);
    switchOver();
    // some may have been claimed more than once
    const active = () => first.active + second.active;
    await until('all runs were claimed again', () => asked[0]! >= 2 * runs && active() >= runs);
    for (const gate of gates) gate.resolve();
    for (const run of accepted) {
      expect(await lanefold.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'done',
      });
      expect(ends.filter((end) => end.startsWith(run.id))).toHaveLength(1);
      await expectSound(inspected, run.threadId);
    }
  });

  test('that is synchronous loses nothing, also where a worker reaches it before it is promoted', async () => {
    await makeSynchronous(primary);
    await startWorker();
    const accepted = await enqueue(runs);
    gates[0]!.resolve();
    await until('all runs wait for their second answer', () => asked[1] === runs);
    const late = await enqueue(1);

    process.kill(primary.pid, 'SIGQUIT');
    switchOver();
    for (const gate of gates) gate.resolve();
    await until('a worker was told that the standby is read-only', () =>
      errors.some((error) => /read-only|during recovery/.test(String(error))),
    );
    await promote(standby);
    for (const run of [...accepted, ...late]) {
      expect(await lanefold.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'done',
      });
      expect(ends.filter((end) => end.startsWith(run.id))).toHaveLength(1);
      await expectSound(inspected, run.threadId);
    }
    // those answered before the failover were not asked again; the late run may have been, if its answer was not stored
    expect(asked[0]! - runs).toBeOneOf([1, 2]);
  });
});
