// @module-tag long
import { randomBytes } from 'node:crypto';
import { createLanefold, type Lanefold, type RunHandle } from 'lanefold';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '../../src/ops/chaos/services/postgres.ts';
import type { TestLanefold } from '../support/lanefold.ts';
import { entriesOf, expectSound, ledgerOf } from '../support/log.ts';
import { findPrograms } from '../support/patroni/programs.ts';
import { startPatroniCluster, type PatroniCluster } from '../support/patroni/cluster.ts';
import { onCitus } from '../support/services.ts';
import { openPool } from '../support/pool.ts';
import { deferred, until } from '../support/until.ts';
import { answered, charger, converse, longestPause, type Charger, type Load } from './fixtures/conversations.ts';

const { programs, missing } = findPrograms();
if (missing.length > 0) console.log(`Not installed: ${missing.join(', ')}. The suite of Patroni is skipped.`);

/** How many runs are acknowledged before a fault, and after it. */
const enough = 12;

describe.skipIf(onCitus || missing.length > 0)('a failover by Patroni', () => {
  let cluster: PatroniCluster;
  let lanefold: Lanefold;
  let pool: pg.Pool;
  /** Reads the primary. */
  let inspected: TestLanefold;
  let ends: string[];

  beforeAll(async () => {
    const settings = { synchronous_mode: true, maximum_lag_on_failover: 64 * 2 ** 20 };
    cluster = await startPatroniCluster(programs, settings);
  });
  afterEach(async () => {
    await lanefold?.close();
    await pool?.end();
  });
  afterAll(() => cluster?.stop());

  async function open({ agent, model }: Charger): Promise<void> {
    const name = `test_${randomBytes(4).toString('hex')}`;
    await withClient(cluster.url('postgres'), (client) => client.query(`create database ${name}`));
    ends = [];
    lanefold = await createLanefold({
      databaseUrl: cluster.url(name),
      readUrl: cluster.readUrl(name),
      redisUrl: null,
      queuePrefix: `t${randomBytes(4).toString('hex')}`,
      privateQueue: true,
      migrate: true,
      agents: [agent],
      models: { fake: model },
    });
    pool = openPool({ connectionString: cluster.url(name), max: 6 });
    inspected = { ...lanefold, database: { pool } } as TestLanefold;
    await lanefold.startWorker({
      leaseMs: 10_000,
      sweepMs: 500,
      onError: () => {},
      onRunEnd: ({ runId, status }) => ends.push(`${runId} ${status}`),
    });
  }

  const more = (load: Load) => {
    const before = load.accepted.length;
    return until('clients have more runs', () => load.accepted.length >= before + enough);
  };

  /** What was acknowledged and is not in the database. */
  async function lostOf(load: Load) {
    const { rows } = await pool.query<{ id: string; status: string }>('select id, status from lanefold.run');
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    const entries = await pool.query<{ note: string }>(
      "select thread_id || ' ' || (payload->>'text') as note from lanefold.thread_entry where kind = 'note'",
    );
    const stored = new Set(entries.rows.map(({ note }) => note));
    const never = [...statuses.keys()].filter((id) => !load.accepted.some((run) => run.id === id));
    expect(never).toEqual([]);
    return {
      runs: load.accepted.filter(({ id }) => !statuses.has(id)),
      open: [...statuses].filter(([, status]) => status !== 'completed'),
      notes: load.notes.filter(({ threadId, text }) => !stored.has(`${threadId} ${text}`)),
    };
  }

  test('in synchronous mode loses nothing when the primary freezes and comes back, and when the next one dies', async () => {
    const what = charger();
    await cluster.whole();
    await open(what);
    const load = converse(lanefold, 4);
    await more(load);

    const { primary: frozen, standby } = await cluster.whole();
    frozen.freeze();
    expect((await cluster.leader()).name).toBe(standby.name);
    await more(load);
    const freeze = longestPause(load);
    frozen.thaw();
    // it finds that it is no longer the primary, drops what only it had, and follows
    expect((await cluster.whole()).standby.name).toBe(frozen.name);
    await more(load);
    load.moments.splice(0, load.moments.length - 1);
    await standby.kill();
    expect((await cluster.leader()).name).toBe(frozen.name);
    await more(load);
    await load.stop();

    expect(load.completed.size).toBe(load.accepted.length);
    expect(await lostOf(load)).toEqual({ runs: [], open: [], notes: [] });
    expect(new Set(ends).size).toBe(ends.length);
    expect([...what.charges.values()].filter((times) => times > 1)).toEqual([]);
    let unknown = 0;
    const expectCharged = async (threadId: string) => {
      await expectSound(inspected, threadId);
      for (const call of await ledgerOf(inspected, threadId)) {
        // unknown: a failover that outlasts the lease may come between the start of a call and its outcome
        expect(call.status).toBeOneOf(call.name === 'charge' ? ['ok', 'unknown'] : ['ok']);
        if (call.status === 'unknown') unknown += 1;
        else expect(what.charges.has(call.idempotency_key)).toBe(call.name === 'charge');
      }
    };
    await Promise.all([...new Set(load.accepted.map((run) => run.threadId))].map(expectCharged));
    report('synchronous', {
      acknowledged: `${load.accepted.length} runs, ${load.notes.length} notes`,
      lost: 0,
      'outcomes unknown, of calls with replay: never': unknown,
      'longest pause, frozen': `${freeze} ms`,
      'longest pause, killed': `${longestPause(load)} ms`,
    });
  });

  test(
    'in asynchronous mode ends every run that is left, when Patroni hangs beside its PostgreSQL, and when a primary dies',
    { tags: 'long' },
    async () => {
      const what = charger();
      await cluster.whole({ synchronous_mode: false });
      await open(what);
      const load = converse(lanefold, 4, true);
      await more(load);

      // until Patroni continues, there are two primaries; HAProxy has closed the connections to the one without
      const { primary: hung, standby } = await cluster.whole();
      hung.hang();
      expect((await cluster.leader()).name).toBe(standby.name);
      await more(load);
      hung.thaw();
      expect((await cluster.whole()).standby.name).toBe(hung.name);
      await more(load);
      await standby.kill();
      expect((await cluster.leader()).name).toBe(hung.name);
      await more(load);
      await load.stop();

      const lost = await lostOf(load);
      expect(lost.open).toEqual([]);
      for (const run of lost.runs) {
        await expect(lanefold.runs.get(run)).rejects.toMatchObject({ code: 'run_not_found' });
      }
      const { rows } = await pool.query<{ id: string }>('select id from lanefold.thread');
      await Promise.all(rows.map(({ id }) => expectSound(inspected, id)));
      report('asynchronous, under load', {
        acknowledged: `${load.accepted.length} runs, ${load.notes.length} notes`,
        lost: `${lost.runs.length} runs, ${lost.notes.length} notes`,
        'executed twice, of calls with replay: never': [...what.charges.values()].filter((times) => times > 1).length,
      });
    },
  );

  test('in asynchronous mode loses what the standby did not have, and says so', async () => {
    const gates = [deferred(), deferred()] as const;
    const reached = [0, 0];
    const what = charger(async (text, turn) => {
      if (!text.startsWith('Wait') || turn === 0 || (turn === 2 && text !== 'Wait longer.')) return;
      reached[turn - 1]! += 1;
      await gates[turn - 1]!.promise;
    });
    const { primary, standby } = await cluster.whole({ synchronous_mode: false });
    await open(what);
    const complete = async (threadId: string) => {
      const run = await lanefold.runs.enqueue({ agent: 'a', input: 'Charge me.', threadId, createThread: true });
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'done' });
      return run;
    };
    const entriesIn = async (threads: string[]) =>
      (await Promise.all(threads.map((id) => entriesOf(lanefold, id)))).flat().length;
    const kept = [await complete('kept'), await complete('kept')];
    const request = { agent: 'a', createThread: true };
    const ahead = await lanefold.runs.enqueue({ ...request, input: 'Wait longer.', threadId: 'ahead' });
    const ended = await lanefold.runs.enqueue({ ...request, input: 'Wait.', threadId: 'ended' });
    await until('both wait', () => reached[0] === 2);
    await cluster.caughtUp();

    // from here on, commits are acknowledged and no longer reach the standby
    primary.replication.silence(false);
    const keptBefore = await entriesIn(['kept']);
    const before = await entriesIn(['kept', 'ahead', 'ended']);
    gates[0].resolve();
    await until('one waits again', () => reached[1] === 1);
    expect(await lanefold.runs.wait(ended)).toMatchObject({ status: 'completed' });
    const lost = [await complete('lost'), await complete('lost'), await complete('kept')];
    const after = await entriesIn(['kept', 'ahead', 'ended', 'lost']);
    await primary.kill();
    primary.replication.reset();
    expect((await cluster.leader()).name).toBe(standby.name);
    expect(await answered(() => entriesIn(['kept']))).toBe(keptBefore);
    gates[1].resolve();

    for (const run of kept) expect(await lanefold.runs.get(run)).toMatchObject({ status: 'completed', result: 'done' });
    for (const run of lost) await expect(lanefold.runs.get(run)).rejects.toMatchObject({ code: 'run_not_found' });
    await expect(lanefold.threads.get('lost')).rejects.toMatchObject({ code: 'thread_not_found' });
    // the worker of one is ahead of the database and is told so; both continue from what was kept
    const endsOf = (run: RunHandle) => ends.filter((end) => end === `${run.id} completed`).length;
    for (const run of [ahead, ended]) {
      await until('it ended on this primary', () => endsOf(run) === (run === ahead ? 1 : 2));
      expect(await lanefold.runs.get(run)).toMatchObject({ status: 'completed', result: 'done' });
      // that the call had started was lost as well, so even `never` could not prevent a second execution
      const [, charge] = await ledgerOf(inspected, run.threadId);
      expect(what.charges.get(charge!.idempotency_key)).toBe(2);
    }
    await complete('lost');
    for (const threadId of ['kept', 'ahead', 'ended', 'lost']) await expectSound(inspected, threadId);
    report('asynchronous, with a standby that lags', {
      lost: `${lost.length} of ${kept.length + lost.length + 2} runs, ${after - before} of ${after} entries`,
    });
  });
});

const report = (mode: string, figures: Record<string, unknown>) => console.log(mode, figures);
