import { createLanefold, defineAgent, type Lanefold, type ScheduleDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const daily: ScheduleDefinition = { agent: 'reporter', input: 'Report of {{date}}', cron: '0 6 * * *' };

describe('schedules', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'reporter', model: 'scripted:echo', overridable: { http: [] } })];
    lanefold = await startLanefold({ agents });
  });
  afterAll(() => lanefold?.close());
  const refused = (definition: object) =>
    lanefold.schedules.set('bad', definition as ScheduleDefinition).then(
      () => 'nothing',
      (error: { code: string; details?: { field?: string } }) => error.details?.field ?? error.code,
    );

  test('are set, listed with their next slots, paused, resumed and removed', async () => {
    const set = await lanefold.schedules.set('nightly', { ...daily, timeZone: 'Europe/Berlin' }, { by: 'ada' });
    expect(set).toMatchObject({
      ...daily,
      name: 'nightly',
      tenant: 'default',
      pausedAt: null,
      updatedBy: 'ada',
      version: 1,
    });
    expect(set.next).toHaveLength(5);
    expect(await lanefold.schedules.list()).toEqual({ data: [set], nextAfter: null });
    const paused = await lanefold.schedules.pause('nightly');
    expect(paused).toMatchObject({ pausedAt: expect.any(Date) as Date, next: [] });
    // a deployment does not let it continue
    const again = await lanefold.schedules.set('nightly', { ...daily, timeZone: 'Europe/Berlin', input: 'New' });
    expect(again).toMatchObject({ input: 'New', pausedAt: paused.pausedAt, next: [] });
    expect((await lanefold.schedules.resume('nightly')).next).toEqual(set.next);
    await lanefold.schedules.remove('nightly');
    for (const act of ['remove', 'pause', 'resume', 'get'] as const)
      await expect(lanefold.schedules[act]('nightly')).rejects.toMatchObject({ code: 'schedule_not_found' });
    const entries = await lanefold.audit.list();
    expect(
      entries
        .map(({ action }) => action)
        .filter((action) => action.startsWith('schedules.'))
        .sort(),
    ).toEqual(['set', 'pause', 'set', 'resume', 'remove'].map((action) => `schedules.${action}`).sort());
  });

  test('are listed in pages, and so are their slots', async () => {
    const { schedules, database } = lanefold;
    for (const name of ['c', 'a', 'b']) await schedules.set(name, daily);
    await schedules.set('a', daily, { tenant: 'acme' });
    const pages: string[][] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await schedules.list({ limit: 2, ...(after ? { after } : {}) });
      pages.push(page.data.map(({ tenant, name }) => `${tenant} ${name}`));
      after = page.nextAfter;
    }
    expect(pages).toEqual([
      ['acme a', 'default a'],
      ['default b', 'default c'],
    ]);
    await database.pool.query(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, settled_at)
       select 'c', at, at, 'missed', at from generate_series(timestamptz '2026-01-01T00:00:00.001Z', '2026-01-03', '1 day') at`,
    );
    const newest = await schedules.slots('c', { limit: 1 });
    const older = await schedules.slots('c', { limit: 1, after: newest.nextAfter! });
    const days = [...newest.data, ...older.data].map(({ slot }) => slot.toISOString());
    expect(days).toEqual(['2026-01-02T00:00:00.001Z', '2026-01-01T00:00:00.001Z']);
    expect(older.nextAfter).toBeNull();
    for (const list of [schedules.list({ after: 'x' }), schedules.slots('c', { after: 'x' })])
      await expect(list).rejects.toMatchObject({ code: 'invalid_input' });
    for (const name of ['a', 'b', 'c']) await schedules.remove(name);
    await schedules.remove('a', { tenant: 'acme' });
  });

  test('keep their next slot as long as their times stay', async () => {
    await lanefold.schedules.set('kept', daily);
    const nextAt = async () =>
      (await lanefold.database.pool.query("select next_at from lanefold._schedule where name = 'kept'")).rows[0]
        .next_at as Date;
    await lanefold.database.pool.query("update lanefold._schedule set next_at = '2099-01-01' where name = 'kept'");
    await lanefold.schedules.set('kept', { ...daily, input: 'Other' });
    expect(await nextAt()).toEqual(new Date('2099-01-01'));
    await lanefold.schedules.set('kept', { ...daily, cron: '0 7 * * *' });
    expect((await nextAt()).getUTCHours()).toBe(7);
    await lanefold.schedules.remove('kept');
  });

  test.each([
    ['cron', { agent: 'reporter', input: 'x' }],
    ['everyMs', { ...daily, everyMs: 60_000 }],
    ...['', 'soon', '61 * * * *', '* * *', '0 0 31 2 *'].map((cron): [string, object] => ['cron', { ...daily, cron }]),
    ['everyMs', { agent: 'reporter', input: 'x', everyMs: 10 }],
    ['timeZone', { ...daily, timeZone: 'Mars/Olympus' }],
    ['timeZone', { ...daily, timeZone: '+02:00' }],
    ['cron', { ...daily, cron: 5 }],
    ['startAt', { ...daily, startAt: '2026-12-01' }],
    ['endAt', { ...daily, endAt: new Date('+010000-01-01') }],
    ['invalid_id', { ...daily, threadId: 'a b' }],
    ['endAt', { ...daily, endAt: new Date('2020-01-01') }],
    ['endAt', { ...daily, startAt: new Date('2030-01-02'), endAt: new Date('2030-01-01') }],
    ['startAt', { ...daily, startAt: new Date('never') }],
    ['overlap', { ...daily, overlap: 'wait' }],
    ['catchUp', { ...daily, catchUp: 'some' }],
    ['jitterMs', { ...daily, jitterMs: 3_600_001 }],
    ['input', { ...daily, input: 'Report of {{day}}' }],
    ['unknown_agent', { ...daily, agent: 'nobody' }],
    ['options.maxIterations', { ...daily, options: { maxIterations: 0 } }],
    ['options', { ...daily, options: { maxIteration: 1 } }],
    ['invalid_input', { ...daily, zone: 'UTC' }],
    ['empty_content', { ...daily, input: ' ' }],
  ])('that make no sense are refused: %s of %j', async (field, definition) => {
    expect(await refused(definition)).toBe(field);
    expect((await lanefold.schedules.list()).data).toEqual([]);
  });

  test('of a program are set when its worker starts, and removed when it defines them no more', async () => {
    const start = async (schedules: Record<string, ScheduleDefinition>): Promise<Lanefold> => {
      const program = await createLanefold({ ...lanefold.options, schedules });
      await program.startWorker();
      return program;
    };
    const names = async () => (await lanefold.schedules.list()).data.map(({ name, source }) => `${name} ${source}`);
    await lanefold.schedules.set('by-hand', daily);
    const one = await start({ a: daily, b: daily });
    expect(await names()).toEqual(['a code', 'b code', 'by-hand user']);
    await lanefold.schedules.pause('a');
    const two = await start({ a: { ...daily, input: 'Other' } });
    expect(await names()).toEqual(['a code', 'by-hand user']);
    expect(await lanefold.schedules.get('a')).toMatchObject({ input: 'Other', pausedAt: expect.any(Date) as Date });
    await expect(start({ a: { ...daily, cron: 'x' } })).rejects.toMatchObject({ details: { field: 'cron' } });
    const typo = { ...daily, timezone: 'UTC' } as ScheduleDefinition;
    await expect(start({ a: typo })).rejects.toMatchObject({ hint: 'Did you mean "timeZone"?' });
    await Promise.all([one.close(), two.close()]);
    for (const name of ['a', 'by-hand']) await lanefold.schedules.remove(name);
  });
});
