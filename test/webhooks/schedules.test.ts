import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { unseen } from '../schedules/support.ts';

const hour = 3_600_000;

/** Without a worker: what is told shows in what is to be delivered. */
describe('a webhook is told of slots that started no run', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
    await lanefold.webhooks.set('slots', { url: 'https://1.1.1.1/', types: ['schedule.missed'] });
  });
  afterAll(() => lanefold?.close());
  const sql = (text: string, values: unknown[] = []) => lanefold.database.pool.query(text, values);
  const set = (name: string, cron = '@yearly') =>
    lanefold.schedules.set(name, { agent: 'echo', input: 'x', cron, catchUp: 'none' });
  const told = async (name: string) =>
    (await lanefold.webhooks.deliveries('slots'))
      .map(({ payload, threadId }) => ({ ...(payload['data'] as { schedule: string; status: string }), threadId }))
      .filter(({ schedule }) => schedule === name)
      .reverse();

  test('because it was paused or removed after they had come', async () => {
    for (const act of ['pause', 'remove'] as const) {
      await set(act);
      // one that no worker has seen, and one that was stored
      await unseen(lanefold, act, { count: 1, everyMs: hour, agoMs: 1_000 });
      await sql(
        "insert into lanefold._schedule_slot (name, slot, due_at, status) values ($1, date_trunc('day', now()), now(), 'due')",
        [act],
      );
      await lanefold.schedules[act](act);
      const skipped = { schedule: act, agent: 'echo', status: 'skipped', threadId: `/schedules/default/${act}` };
      expect(await told(act)).toMatchObject([skipped, skipped]);
      expect((await lanefold.schedules.slots(act)).data.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    }
  });

  test('because it got other times after they were missed', async () => {
    await set('changed');
    await unseen(lanefold, 'changed', { count: 1, everyMs: hour, agoMs: hour });
    await set('changed', '@monthly');
    expect(await told('changed')).toMatchObject([{ status: 'missed', agent: 'echo' }]);
  });

  test('once for each outcome', async () => {
    await set('twice');
    const slot = new Date('2026-01-01T06:00:00Z');
    for (const [status, code] of [
      ['missed', null],
      ['missed', null],
      ['failed', { code: 'unknown_agent', message: 'x' }],
    ] as const) {
      await sql(
        `insert into lanefold._schedule_slot as k (name, slot, due_at, status, error) values ('twice', $1, $1, $2, $3)
         on conflict (tenant_id, name, slot) do update set status = $2, error = $3`,
        [slot, status, code],
      );
      await sql("select lanefold._note_slot('default', 'twice', $1, null)", [slot]);
    }
    expect((await told('twice')).map(({ status }) => status)).toEqual(['missed', 'failed']);
  });

  test('apart from threads that are named as it is', async () => {
    await set('alike');
    await unseen(lanefold, 'alike', { count: 1, everyMs: hour, agoMs: 1_000 });
    await lanefold.schedules.pause('alike');
    for (const id of ['schedule:alike', 'alike']) {
      await lanefold.threads.create({ id });
      await lanefold.threads.erase(id);
    }
    expect(await told('alike')).toHaveLength(1);
  });
});
