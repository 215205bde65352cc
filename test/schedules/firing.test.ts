// @module-tag slow
import { createLanefold, defineAgent, type Lanefold, type ScheduleDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derivedIds } from '../../src/base/checks/ids.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type Keyboard, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { unseen as passUnseen } from './support.ts';

const second = 1_000;
const hour = 3_600_000;

describe('a schedule', () => {
  let lanefold: TestLanefold;
  /** A second process with a worker. */
  let other: Lanefold;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const agents = [
      defineAgent({ name: 'typist', model: 'typed:m' }),
      defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 10 } }),
    ];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    other = await createLanefold(lanefold.options);
    await lanefold.startWorker({ concurrency: 4 });
    await other.startWorker({ concurrency: 4 });
  });
  afterAll(async () => {
    await other?.close();
    await lanefold?.close();
  });
  const sql = async <Row>(text: string, values: unknown[] = []) =>
    (await lanefold.database.pool.query(text, values)).rows as Row[];
  const slotsOf = async (name: string, tenant = 'default') =>
    (await lanefold.schedules.slots(name, { tenant, limit: 1_000 })).data.reverse();
  const statuses = async (name: string) => (await slotsOf(name)).map(({ status }) => status).join();
  const settled = (name: string, count: number, tenant?: string) =>
    until(`${count} slots of ${name} are settled`, async () => {
      const slots = await slotsOf(name, tenant);
      return slots.filter(({ settledAt }) => settledAt !== null).length >= count ? slots : undefined;
    });
  const set = (name: string, more: Partial<ScheduleDefinition> = {}, tenant = 'default') =>
    lanefold.schedules.set(
      name,
      { agent: 'echo', cron: '0 0 1 1 *', input: 'Report of {{date}}', ...more } as ScheduleDefinition,
      { tenant },
    );
  const unseen = (name: string, count: number, everyMs: number, agoMs: number, tenant = 'default') =>
    passUnseen(lanefold, name, { count, everyMs, agoMs, tenant });
  const type = (keyboard: Keyboard, text: string) => {
    keyboard.type(text);
    keyboard.stop();
  };

  test('starts a run for each slot, once, whoever looks', async () => {
    await set('tick', { cron: '* * * * * *', input: 'at {{slot}}', overlap: 'queue' });
    await settled('tick', 4);
    await lanefold.schedules.pause('tick');
    const slots = await until('no slot is being fired', async () => {
      const all = await slotsOf('tick');
      return all.every(({ status }) => status !== 'firing') && all;
    });
    await lanefold.schedules.remove('tick');
    for (const [i, { slot }] of slots.slice(1).entries())
      expect(slot.getTime() - slots[i]!.slot.getTime()).toBe(second);
    const fired = slots.filter(({ status }) => status === 'fired');
    for (const { slot, threadId, runId } of fired) {
      const run = await lanefold.runs.wait({ threadId: threadId!, id: runId! });
      expect(run).toMatchObject({ status: 'completed', requestId: `schedule:tick:${slot.toISOString()}` });
      expect(run.result).toContain(`at ${slot.toISOString().replace('.000', '')}`);
    }
    const runs = await sql<{ n: number }>(
      "select count(*)::int as n from lanefold.run where request_id like 'schedule:tick:%'",
    );
    expect(runs[0]!.n).toBe(fired.length);
  });

  test.each([
    ['none', 'missed'],
    ['one', 'missed,fired'],
    ['all', 'fired,fired,fired,fired'],
  ] as const)('catches up %s of the slots that nobody saw', async (catchUp, expected) => {
    const name = `late-${catchUp}`;
    await set(name, { catchUp });
    await unseen(name, 4, hour, hour / 2);
    await settled(name, expected.split(',').length);
    expect(await statuses(name)).toBe(expected);
    expect((await lanefold.schedules.get(name)).next).toEqual([]);
    await lanefold.schedules.remove(name);
  });

  test('skips slots while the run of an earlier one has not ended', async () => {
    await set('skips', { agent: 'typist', catchUp: 'all' });
    await unseen('skips', 3, second, second);
    const keyboard = await model.next();
    const slots = await settled('skips', 3);
    expect(await statuses('skips')).toBe('fired,skipped,skipped');
    type(keyboard, 'done');
    await lanefold.runs.wait({ threadId: slots[0]!.threadId!, id: slots[0]!.runId! });
    await lanefold.schedules.remove('skips');
  });

  test('keeps slots due while it queues, and starts them one after the other', async () => {
    await set('queues', { agent: 'typist', overlap: 'queue', catchUp: 'all' });
    await unseen('queues', 3, second, second);
    for (const expected of ['fired,due,due', 'fired,fired,due', 'fired,fired,fired']) {
      const keyboard = await model.next();
      await until('its slot is settled', async () => (await statuses('queues')) === expected);
      type(keyboard, 'done');
    }
    await lanefold.schedules.remove('queues');
  });

  test('interrupts the run of an earlier slot', async () => {
    await set('interrupts', { agent: 'typist', overlap: 'interrupt', catchUp: 'all' });
    await unseen('interrupts', 1, hour, 2 * second);
    await model.next();
    await unseen('interrupts', 1, hour, second);
    type(await model.next(), 'the newer');
    const [older, newer] = await settled('interrupts', 2);
    const end = (slot = older!) => lanefold.runs.wait({ threadId: slot.threadId!, id: slot.runId! });
    expect(await end()).toMatchObject({ status: 'cancelled' });
    expect(await end(newer)).toMatchObject({ status: 'completed', result: 'the newer' });
    await lanefold.schedules.remove('interrupts');
  });

  test('interrupts also with a slot that is caught up, unless the earlier one was caught up too', async () => {
    await set('catches', { agent: 'typist', overlap: 'interrupt', catchUp: 'all' });
    await unseen('catches', 1, hour, hour);
    await model.next();
    await settled('catches', 1);
    await sql("update lanefold._schedule_slot set late = false where name = 'catches'");
    await unseen('catches', 1, hour, hour / 2);
    const keyboard = await model.next();
    const [older, newer] = await settled('catches', 2);
    const end = (slot = older!) => lanefold.runs.wait({ threadId: slot.threadId!, id: slot.runId! });
    expect(await end()).toMatchObject({ status: 'cancelled', error: { message: 'schedule_interrupted' } });
    await unseen('catches', 1, hour, hour / 4);
    await until('it waits', async () => (await statuses('catches')) === 'fired,fired,due');
    type(keyboard, 'done');
    expect(await end(newer)).toMatchObject({ status: 'completed' });
    type(await model.next(), 'done');
    await settled('catches', 3);
    await lanefold.schedules.remove('catches');
  });

  test('does not stop interrupting or skipping because a slot that is caught up waits', async () => {
    for (const [overlap, expected] of [
      ['interrupt', 'fired,skipped,fired'],
      ['skip', 'fired,due,skipped'],
    ] as const) {
      await set(`blocked-${overlap}`, { agent: 'typist', overlap, catchUp: 'all' });
      await unseen(`blocked-${overlap}`, 2, hour, hour / 2);
      let keyboard = await model.next();
      await until('one waits', async () => (await statuses(`blocked-${overlap}`)) === 'fired,due');
      await unseen(`blocked-${overlap}`, 1, hour, second);
      if (overlap === 'interrupt') keyboard = await model.next();
      const name = `blocked-${overlap}`;
      await until('the one on time passes the one that waits', async () => (await statuses(name)) === expected);
      type(keyboard, 'done');
      if (overlap === 'skip') type(await model.next(), 'done');
      await settled(name, 3);
      await lanefold.schedules.remove(name);
    }
  });

  test('interrupts nothing for a run that is refused', async () => {
    await set('declined', { agent: 'typist', overlap: 'interrupt', catchUp: 'all' });
    await unseen('declined', 1, hour, 2 * second);
    const keyboard = await model.next();
    const [first] = await settled('declined', 1);
    await sql(
      `update lanefold._schedule set definition = definition || '{"options": {"model": "none:m"}}' where name = 'declined'`,
    );
    await unseen('declined', 1, hour, second);
    await until('the slot has failed', async () => (await statuses('declined')) === 'fired,failed');
    type(keyboard, 'done');
    expect(await lanefold.runs.wait({ threadId: first!.threadId!, id: first!.runId! })).toMatchObject({
      status: 'completed',
    });
    await lanefold.schedules.remove('declined');
  });

  test('keeps at most two thousand slots open', async () => {
    await set('many', { agent: 'typist', overlap: 'queue', catchUp: 'all' });
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, waits)
       select 'many', now() - n * interval '1 hour', now() + interval '1 day', 'due', false from generate_series(1, 1999) n`,
    );
    await unseen('many', 2, second, second);
    await until(
      'one is missed',
      async () =>
        (await sql("select from lanefold._schedule_slot where name = 'many' and status = 'missed'")).length === 1,
    );
    expect((await slotsOf('many')).at(-1)).toMatchObject({ status: 'missed' });
    await lanefold.schedules.remove('many');
  });

  test('interrupts all runs of earlier slots on its thread', async () => {
    const queues = { agent: 'typist', threadId: 'desk', overlap: 'queue', catchUp: 'all' } as const;
    await set('desk', queues);
    await unseen('desk', 3, hour, hour);
    await settled('desk', 3);
    await model.next();
    const own = await lanefold.runs.enqueue({ agent: 'echo', input: 'mine', threadId: 'desk', busy: 'wait' });
    await set('desk', { ...queues, overlap: 'interrupt' });
    await unseen('desk', 1, hour, second);
    type(await model.next(), 'the newest');
    const slots = await settled('desk', 4);
    const ends = await Promise.all(slots.map(({ runId }) => lanefold.runs.wait({ threadId: 'desk', id: runId! })));
    expect(ends.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'completed']);
    expect(await lanefold.runs.wait(own)).toMatchObject({ status: 'completed' });
    await lanefold.schedules.remove('desk');
  });

  test('continues with its thread, where the runs wait for one another', async () => {
    await set('goes-on', { threadId: 'diary', overlap: 'queue', catchUp: 'all' });
    await unseen('goes-on', 3, hour, hour / 2);
    const slots = await settled('goes-on', 3);
    expect(slots.map(({ threadId }) => threadId)).toEqual(['diary', 'diary', 'diary']);
    for (const { runId } of slots)
      expect(await lanefold.runs.wait({ threadId: 'diary', id: runId! })).toMatchObject({ status: 'completed' });
    const { data } = await lanefold.runs.list({ threadId: 'diary' });
    expect(data.map(({ id }) => id).toSorted()).toEqual(slots.map(({ runId }) => runId).toSorted());
    await lanefold.schedules.remove('goes-on');
  });

  /** The run of a slot, as a worker requests it. */
  const asSlot = async (requestId: string, input: string) => {
    const [row] = (await lanefold.database.pool.query<{ key: string }>("select lanefold.name_key('default') as key"))
      .rows;
    const { threadId } = derivedIds(row!.key).own(requestId);
    return lanefold.runs.enqueue({ agent: 'echo', input, requestId, threadId, createThread: true, busy: 'wait' });
  };

  test('starts the same run again if its worker died in between', async () => {
    await set('dies');
    const slot = new Date('2026-01-01T06:00:00Z');
    const requestId = `schedule:dies:${slot.toISOString()}`;
    const run = await asSlot(requestId, 'Report of 2026-01-01');
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, taken_at, request)
       select name, $1, $1, 'firing', now() - interval '1 minute',
         jsonb_build_object('agent', agent, 'overlap', overlap, 'timing', timing, 'definition', definition)
       from lanefold._schedule where name = 'dies'`,
      [slot],
    );
    // as it was when the slot was taken, whatever the schedule is by now
    await set('dies', { input: 'Other', agent: 'typist' });
    expect(await settled('dies', 1)).toMatchObject([{ status: 'fired', threadId: run.threadId, runId: run.id }]);
    await lanefold.schedules.remove('dies');
  });

  test('says why a slot failed, and continues with the next', async () => {
    await set('fails', { catchUp: 'all' });
    await sql(
      `update lanefold._schedule set definition = definition || '{"options": {"model": "nobody:x"}}' where name = 'fails'`,
    );
    await unseen('fails', 2, hour, hour / 2);
    expect(await settled('fails', 2)).toMatchObject(
      [1, 2].map(() => ({ status: 'failed', error: { code: 'unknown_model' }, runId: null })),
    );
    await lanefold.schedules.remove('fails');
  });

  test('waits for a worker that knows its agent', async () => {
    await set('waits', { catchUp: 'none' });
    await sql("update lanefold._schedule set agent = 'nobody' where name = 'waits'");
    await unseen('waits', 1, hour, second);
    await set('sees', { catchUp: 'all' });
    await unseen('sees', 1, hour, second);
    await settled('sees', 1);
    expect(await statuses('waits')).toBe('');
    await sql("update lanefold._schedule set agent = 'echo' where name = 'waits'");
    await settled('waits', 1);
    for (const name of ['waits', 'sees']) await lanefold.schedules.remove(name);
  });

  test('fails a slot whose agent nobody has known for long since it was taken', async () => {
    await set('gone');
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, taken_at, request)
       select name, now(), now(), 'firing', now() - interval '11 minutes',
         jsonb_build_object('agent', 'nobody', 'overlap', overlap, 'timing', timing, 'definition', definition)
       from lanefold._schedule where name = 'gone'`,
    );
    expect(await settled('gone', 1)).toMatchObject([{ status: 'failed', error: { code: 'unknown_agent' } }]);
    await lanefold.schedules.remove('gone');
  });

  test('has fired a slot whose run exists, also if it is taken again and would be refused by then', async () => {
    await set('refused');
    const slot = new Date('2026-01-01T06:00:00Z');
    const requestId = `schedule:refused:${slot.toISOString()}`;
    const run = await asSlot(requestId, 'x');
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, taken_at, request)
       select name, $1, $1, 'firing', now() - interval '11 minutes',
         jsonb_build_object('agent', 'nobody', 'overlap', overlap, 'timing', timing, 'definition', definition)
       from lanefold._schedule where name = 'refused'`,
      [slot],
    );
    expect(await settled('refused', 1)).toMatchObject([{ status: 'fired', threadId: run.threadId, runId: run.id }]);
    await lanefold.schedules.remove('refused');
  });

  test('does not wait behind any number of schedules whose slots wait', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'typist', input: 'long' });
    const keyboard = await model.next();
    const names = Array.from({ length: 21 }, (_, i) => `full-${i}`);
    for (const name of names) {
      await set(name, { overlap: 'queue', catchUp: 'all' });
      await sql(
        `insert into lanefold._schedule_slot (name, slot, due_at, status, settled_at, thread_id, run_id)
         values ($1, now() - interval '1 day', now(), 'fired', now(), $2, $3)`,
        [name, run.threadId, run.id],
      );
      await unseen(name, 1, hour, 10 * second);
    }
    await set('behind', { catchUp: 'all' });
    await unseen('behind', 1, second, second);
    expect(await settled('behind', 1)).toMatchObject([{ status: 'fired' }]);
    for (const name of names) expect(await statuses(name)).toBe('fired,due');
    type(keyboard, 'done');
    for (const name of names) await settled(name, 2);
    for (const name of [...names, 'behind']) await lanefold.schedules.remove(name);
  });

  test('starts no run while it is paused, and none of then once it continues', async () => {
    await set('pauses', { agent: 'typist', overlap: 'queue', catchUp: 'all' });
    await unseen('pauses', 2, second, second);
    const keyboard = await model.next();
    await until('the other slot waits', async () => (await statuses('pauses')) === 'fired,due');
    await lanefold.schedules.pause('pauses');
    expect(await statuses('pauses')).toBe('fired,skipped');
    type(keyboard, 'done');
    await lanefold.schedules.resume('pauses');
    expect(await statuses('pauses')).toBe('fired,skipped');
    await lanefold.schedules.remove('pauses');
  });

  test('keeps a slot that has come when it gets other times', async () => {
    await set('changes', { agent: 'typist', overlap: 'queue' });
    // nobody who knows its agent looks
    await sql("update lanefold._schedule set agent = 'nobody' where name = 'changes'");
    await unseen('changes', 1, hour, second);
    await set('changes', { cron: '0 0 2 1 *' });
    const [slot] = await settled('changes', 1);
    expect(slot).toMatchObject({ status: 'fired' });
    expect(await statuses('changes')).toBe('fired');
    await lanefold.schedules.remove('changes');
  });

  test('does not start a slot late because it got other times, unless it catches up', async () => {
    for (const [catchUp, expected] of [
      ['none', 'missed'],
      ['one', 'fired'],
    ] as const) {
      const name = `changes-${catchUp}`;
      await set(name, { catchUp });
      await sql("update lanefold._schedule set agent = 'nobody' where name = $1", [name]);
      await unseen(name, 1, hour, hour);
      await set(name, { catchUp, cron: '0 0 2 1 *' });
      await settled(name, 1);
      expect(await statuses(name)).toBe(expected);
      await lanefold.schedules.remove(name);
    }
  });

  test('keeps old slots for a while, and the last that fired as long as it is there', async () => {
    await set('old');
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, settled_at)
       select 'old', at, at, status, at from (values (now() - interval '3 days', 'fired'), (now() - interval '2 days', 'fired'),
         (now() - interval '1 day', 'skipped'), (now(), 'skipped')) x (at, status)`,
    );
    const drop = () => sql<{ n: number }>('select lanefold.drop_slots(0.5, 100) as n');
    expect(await drop()).toEqual([{ n: 2 }]);
    expect(await statuses('old')).toBe('fired,skipped');
    await lanefold.schedules.remove('old');
    expect(await drop()).toEqual([{ n: 1 }]);
  });

  test('of a tenant starts runs of the tenant', async () => {
    await set('acme-report', { catchUp: 'all' }, 'acme');
    await unseen('acme-report', 1, hour, hour, 'acme');
    const [slot] = await settled('acme-report', 1, 'acme');
    const rows = await sql('select tenant_id from lanefold.thread where id = $1', [slot!.threadId]);
    expect(rows).toEqual([{ tenant_id: 'acme' }]);
    await lanefold.schedules.remove('acme-report', { tenant: 'acme' });
  });

  test('cannot write to the thread of another tenant', async () => {
    const { id } = await lanefold.forTenant('acme').threads.create();
    await set('strange', { threadId: id, catchUp: 'all' });
    await unseen('strange', 1, hour, hour);
    expect(await settled('strange', 1)).toMatchObject([{ status: 'failed' }]);
    expect((await lanefold.forTenant('acme').runs.list({ threadId: id })).data).toEqual([]);
    await lanefold.schedules.remove('strange');
  });

  test('is not stopped by another that cannot be read', async () => {
    await set('broken');
    await set('sound', { catchUp: 'all' });
    await sql(
      `update lanefold._schedule set timing = '{"cron": "x"}', next_at = now() - interval '1 day' where name = 'broken'`,
    );
    await unseen('sound', 1, hour, hour);
    expect(await settled('sound', 1)).toMatchObject([{ status: 'fired' }]);
    const listed = (await lanefold.schedules.list()).data.map(({ name, next }) => [name, next.length]);
    expect(listed).toEqual([
      ['broken', 0],
      ['sound', 0],
    ]);
    for (const name of ['broken', 'sound']) await lanefold.schedules.remove(name);
  });
});
