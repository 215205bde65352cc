import { createLanefold, defineAgent, type Lanefold, type ScheduleDefinition } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type Keyboard, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

const hourly = { cron: '0 * * * *', input: 'Report of {{date}}' };

describe.skipIf(noRedis())('a schedule', () => {
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
  const slotsOf = async (name: string) => (await lanefold.schedules.slots(name, { limit: 1_000 })).reverse();
  const settled = (name: string, count: number) =>
    until(`${count} slots of ${name} are settled`, async () => {
      const slots = await slotsOf(name);
      return slots.filter(({ settledAt }) => settledAt !== null).length >= count ? slots : undefined;
    });
  /** As if nobody had looked since then. */
  const sleepSince = (name: string, hours: number) =>
    sql(
      `update lanefold._schedule set next_at = date_trunc('hour', now()) - $2 * interval '1 hour', version = version where name = $1`,
      [name, hours],
    );
  const set = (name: string, more: Partial<ScheduleDefinition> = {}) =>
    lanefold.schedules.set(name, { agent: 'echo', ...hourly, ...more } as ScheduleDefinition);
  const type = (keyboard: Keyboard, text: string) => {
    keyboard.type(text);
    keyboard.stop();
  };

  test('starts a run for each slot, once, whoever looks', async () => {
    await set('tick', { cron: '* * * * * *', input: 'at {{slot}}' });
    const slots = await settled('tick', 4);
    await lanefold.schedules.remove('tick');
    const fired = slots.filter(({ status }) => status === 'fired');
    for (const [i, { slot }] of fired.slice(1).entries())
      expect(slot.getTime() - fired[i]!.slot.getTime()).toBe(1_000);
    for (const { slot, threadId, runId } of fired) {
      const run = await lanefold.runs.wait({ threadId: threadId!, id: runId! });
      expect(run).toMatchObject({ status: 'completed', requestId: `schedule:tick:${slot.toISOString()}` });
      expect(run.result).toContain(`at ${slot.toISOString().replace('.000', '')}`);
    }
    expect(new Set(fired.map(({ runId }) => runId)).size).toBe(fired.length);
    const runs = await sql<{ n: number }>(
      "select count(*)::int as n from lanefold.run where request_id like 'schedule:tick:%'",
    );
    expect(runs[0]!.n).toBe(fired.length);
  });

  test.each([
    ['none', ['missed']],
    ['one', ['missed', 'fired']],
    ['all', ['fired', 'fired', 'fired', 'fired']],
  ] as const)('catches up %s of the slots that nobody saw', async (catchUp, statuses) => {
    const name = `late-${catchUp}`;
    // the slot of this hour was more than a minute ago, or is on time
    await set(name, { catchUp, cron: '30 * * * *', timeZone: 'UTC' });
    await sql(
      "update lanefold._schedule set next_at = date_trunc('hour', now()) - interval '3 hours 30 minutes' where name = $1",
      [name],
    );
    const first = (await sql<{ late: boolean }>("select extract(minute from now()) >= 30 as late"))[0]!.late;
    const slots = await settled(name, catchUp === 'all' && first ? statuses.length + 1 : statuses.length);
    expect(slots.map(({ status }) => status).slice(-statuses.length)).toEqual(statuses);
    await lanefold.schedules.remove(name);
  });

  test('skips slots while the run of an earlier one has not ended', async () => {
    await set('skips', { agent: 'typist', cron: '* * * * * *' });
    const keyboard = await model.next();
    const slots = await settled('skips', 3);
    expect(slots.map(({ status }) => status).slice(0, 3)).toEqual(['fired', 'skipped', 'skipped']);
    await lanefold.schedules.pause('skips');
    type(keyboard, 'done');
    await lanefold.runs.wait({ threadId: slots[0]!.threadId!, id: slots[0]!.runId! });
    await lanefold.schedules.remove('skips');
  });

  test('keeps slots due while it queues, and starts them one after the other', async () => {
    await set('queues', { agent: 'typist', overlap: 'queue', catchUp: 'all' });
    await sleepSince('queues', 2);
    const first = await model.next();
    expect((await slotsOf('queues')).map(({ status }) => status)).toEqual(['fired', 'due', 'due']);
    type(first, 'one');
    const second = await model.next();
    expect((await slotsOf('queues')).map(({ status }) => status)).toEqual(['fired', 'fired', 'due']);
    type(second, 'two');
    type(await model.next(), 'three');
    await settled('queues', 3);
    await lanefold.schedules.remove('queues');
  });

  test('interrupts the run of an earlier slot', async () => {
    await set('interrupts', { agent: 'typist', overlap: 'interrupt', catchUp: 'all' });
    await sleepSince('interrupts', 1);
    await model.next();
    const second = await model.next();
    const slots = await settled('interrupts', 2);
    type(second, 'second');
    expect(await lanefold.runs.wait({ threadId: slots[0]!.threadId!, id: slots[0]!.runId! })).toMatchObject({
      status: 'cancelled',
    });
    expect(await lanefold.runs.wait({ threadId: slots[1]!.threadId!, id: slots[1]!.runId! })).toMatchObject({
      ...{ status: 'completed', result: 'second' },
    });
    await lanefold.schedules.remove('interrupts');
  });

  test('goes on with its thread', async () => {
    await set('goes-on', { threadId: 'diary', overlap: 'queue', catchUp: 'all' });
    await sleepSince('goes-on', 2);
    const slots = await settled('goes-on', 3);
    expect(slots.map(({ threadId }) => threadId)).toEqual(['diary', 'diary', 'diary']);
    for (const { runId } of slots) await lanefold.runs.wait({ threadId: 'diary', id: runId! });
    const { data } = await lanefold.runs.list({ threadId: 'diary' });
    expect(data.map(({ id }) => id).sort()).toEqual(slots.map(({ runId }) => runId).sort());
    await lanefold.schedules.remove('goes-on');
  });

  test('starts the same run again if its worker died in between', async () => {
    // nobody takes its slots until they are taken back
    await set('dies', { startAt: new Date('2099-01-01') });
    const slot = new Date('2026-01-01T06:00:00Z');
    const requestId = `schedule:dies:${slot.toISOString()}`;
    const run = await lanefold.runs.enqueue({ agent: 'echo', input: 'Report of 2026-01-01', requestId });
    await sql(
      `insert into lanefold._schedule_slot (name, slot, due_at, status, taken_at)
       values ('dies', $1, $1, 'firing', now() - interval '1 minute')`,
      [slot],
    );
    expect(await settled('dies', 1)).toMatchObject([{ status: 'fired', threadId: run.threadId, runId: run.id }]);
    await lanefold.schedules.remove('dies');
  });

  test('says why a slot failed, and goes on with the next', async () => {
    await set('fails', { catchUp: 'all' });
    await sql("update lanefold._schedule set agent = 'nobody' where name = 'fails'");
    await sleepSince('fails', 0);
    expect(await settled('fails', 1)).toMatchObject([{ status: 'failed', error: { code: 'unknown_agent' }, runId: null }]);
    expect((await lanefold.schedules.get('fails')).next).toHaveLength(5);
    await lanefold.schedules.remove('fails');
  });

  test('of a tenant starts runs of the tenant', async () => {
    await lanefold.schedules.set('acme-report', { agent: 'echo', ...hourly, catchUp: 'all' }, { tenant: 'acme' });
    await sleepSince('acme-report', 0);
    const [slot] = await until('its slot is settled', async () => {
      const slots = await lanefold.schedules.slots('acme-report', { tenant: 'acme' });
      return slots[0]?.settledAt ? slots : undefined;
    });
    const rows = await sql('select tenant_id from lanefold.thread where id = $1', [slot!.threadId]);
    expect(rows).toEqual([{ tenant_id: 'acme' }]);
    await lanefold.schedules.remove('acme-report', { tenant: 'acme' });
  });
});
