import { defineAgent, type ScheduleDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const daily: ScheduleDefinition = { agent: 'reporter', input: 'Report', cron: '0 6 * * *' };

/** What a worker has read of a schedule. */
interface Read {
  version: string;
  next_at: Date;
}

describe('a schedule is moved only by a worker that has read it as it is', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'reporter', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  const rowsOf = async (table: '_schedule' | '_schedule_slot', name: string) =>
    (await lanefold.database.pool.query(`select * from lanefold.${table} where name = $1`, [name])).rows as Read[];
  const dayAfter = (at: Date) => new Date(at.getTime() + 86_400_000);
  /** As a worker does at the time of the slot. */
  const advance = async (name: string, { version, next_at: slot }: Read) => {
    const { rows } = await lanefold.database.pool.query<{ moved: object | null }>(
      'select lanefold.advance_schedule($1, $2, $3, $4, $5, $6) as moved',
      ['default', name, version, slot, dayAfter(slot), JSON.stringify([{ slot, status: 'due' }])],
    );
    return rows[0]!.moved;
  };

  test('once', async () => {
    await lanefold.schedules.set('once', daily);
    const [read] = await rowsOf('_schedule', 'once');
    expect(await advance('once', read!)).toEqual({ missed: 0, skipped: 0 });
    const moved = await rowsOf('_schedule', 'once');
    expect(moved).toEqual([{ ...read, next_at: dayAfter(read!.next_at) }]);
    // another worker, which has read the same
    expect(await advance('once', read!)).toBeNull();
    expect(await rowsOf('_schedule', 'once')).toEqual(moved);
    expect(await rowsOf('_schedule_slot', 'once')).toHaveLength(1);
  });

  test.each<[string, (name: string) => Promise<unknown>]>([
    ['replaced', (name) => lanefold.schedules.set(name, { ...daily, cron: '0 7 * * *' })],
    ['changed at the same times', (name) => lanefold.schedules.set(name, { ...daily, input: 'Another' })],
    ['paused', (name) => lanefold.schedules.pause(name)],
    ['removed', (name) => lanefold.schedules.remove(name)],
  ])('not after it was %s', async (what, change) => {
    const name = what.replaceAll(' ', '-');
    await lanefold.schedules.set(name, daily);
    const [read] = await rowsOf('_schedule', name);
    await change(name);
    const changed = await rowsOf('_schedule', name);
    expect(await advance(name, read!)).toBeNull();
    expect(await rowsOf('_schedule', name)).toEqual(changed);
    expect(await rowsOf('_schedule_slot', name)).toEqual([]);
  });
});

describe('a slot that another worker took meanwhile', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'reporter', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  test('is settled only by the one that took it last', async () => {
    await lanefold.schedules.set('taken', daily);
    const slot = new Date('2026-01-01T06:00:00.000Z');
    const { pool } = lanefold.database;
    await pool.query(
      `insert into lanefold._schedule_slot (name, slot, due_at, status) values ('taken', $1, $1, 'due')`,
      [slot],
    );
    // as after ten seconds without a word of the first one
    const take = async () => {
      const { rows } = await pool.query<{ taken: { taken_at: string } }>(
        `select lanefold.take_slot('default', 'taken', $1, '["reporter"]', false, 0) as taken`,
        [slot],
      );
      return rows[0]!.taken.taken_at;
    };
    const settle = (takenAt: string, outcome: object) =>
      pool.query(`select from lanefold.settle_slot('default', 'taken', $1, $2, $3)`, [slot, takenAt, outcome]);
    const [first, last] = [await take(), await take()];
    await settle(first, { status: 'failed', error: { code: 'internal', message: 'late' } });
    expect((await lanefold.schedules.slots('taken')).data).toMatchObject([{ status: 'firing', error: null }]);
    const run = { thread_id: 'its-thread', run_id: 'its-run' };
    await settle(last, { status: 'fired', ...run });
    await settle(first, { status: 'failed', error: { code: 'internal', message: 'late' } });
    expect((await lanefold.schedules.slots('taken')).data).toMatchObject([
      { status: 'fired', error: null, threadId: 'its-thread', runId: 'its-run' },
    ]);
  });
});
