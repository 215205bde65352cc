import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

describe('a clock of the database that was ahead for a while', () => {
  let lanefold: TestLanefold;
  const others: Lanefold[] = [];
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(async () => {
    await Promise.all(others.map((other) => other.close()));
    await lanefold?.close();
  });
  const sql = async (text: string) => (await lanefold.database.pool.query(text)).rows as Record<string, unknown>[];
  const setClock = async (ahead: string) => {
    await sql(
      `do $$ begin execute format('alter database %I set lanefold.clock_offset = ''${ahead}''', current_database()); end $$`,
    );
  };
  /** Sessions keep the clock they began with: the pools open new ones. */
  const endSessions = () =>
    sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'lanefold%'",
    );
  const open = async () => {
    const other = await createLanefold(lanefold.options);
    others.push(other);
    await other.startWorker({ sweepMs: 100, onError: () => {} });
    return other;
  };
  const nextAt = async () =>
    (await sql("select next_at from lanefold._schedule where name = 'hourly'"))[0]!['next_at'] as Date;
  const slots = async () => (await lanefold.schedules.slots('hourly')).data.map(({ slot }) => slot.getTime());

  test('starts no slot twice, and moves no slot away, whether workers saw it or start later', async () => {
    const everyMs = 3_600_000;
    await lanefold.schedules.set('hourly', { agent: 'echo', input: 'x', everyMs });
    const first = await nextAt();
    const expected = (slot: number) => slot >= first.getTime() && slot <= first.getTime() + everyMs;
    await setClock('100 days');
    const worker = await open();
    await until('it fires slots of the future', async () => (await slots()).length > 0);
    const future = await nextAt();
    expect(future.getTime()).toBeGreaterThan(first.getTime() + 99 * 24 * everyMs);
    const fired = await slots();

    await setClock('0');
    await endSessions();
    await until('the worker that saw it moves the schedule back', async () => expected((await nextAt()).getTime()));
    await worker.close();
    await lanefold.database.pool.query("update lanefold._schedule set next_at = $1 where name = 'hourly'", [future]);
    await open();
    await until('a worker that starts moves the schedule back', async () => expected((await nextAt()).getTime()));
    expect(await slots()).toEqual(expect.arrayContaining(fired));
  });
});
