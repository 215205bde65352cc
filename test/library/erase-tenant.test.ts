import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { placesOf } from '../support/stored-text.ts';

const year = 365 * 86_400_000;
const tables = ['_schedule', '_schedule_slot', '_kept_event', '_monitor', '_alarm'];

let lanefold: TestLanefold;
beforeAll(async () => {
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
});
afterAll(() => lanefold?.close());

/** Everything of a tenant that starts runs, or waits for them. */
async function fill(tenant: string): Promise<string> {
  const secret = `iris of ${tenant}`;
  const own = lanefold.forTenant(tenant);
  await own.schedules.set('daily', { agent: 'echo', input: secret, cron: '@yearly' });
  for (const [status, days] of [
    ['fired', 2],
    ['due', 1],
  ] as const)
    await lanefold.database.pool.query(
      `insert into lanefold._schedule_slot (tenant_id, name, slot, due_at, status, request)
       values ($1, 'daily', now() - $2 * interval '1 day', now(), $3, $4)`,
      [tenant, days, status, { input: secret }],
    );
  await own.monitors.set('quality', { rubric: secret, judge: { agent: 'echo' } });
  await own.alarms.set('failures', { filter: { agent: secret } });
  await own.events.send('paid', { secret }, { keepMs: year });
  await own.webhooks.set('orders', {
    url: `https://1.1.1.1/${encodeURIComponent(secret)}?token=${encodeURIComponent(secret)}`,
  });
  await own.threads.create({ systemPrompt: secret });
  return secret;
}

async function rowsOf(tenant: string): Promise<Record<string, number>> {
  const counts = tables.map(async (table) => {
    const text = `select from lanefold.${table} where tenant_id = $1`;
    return [table, (await lanefold.database.pool.query(text, [tenant])).rowCount!] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const webhooksOf = async (tenant: string) => (await lanefold.forTenant(tenant).webhooks.list()).length;

test('erasing a tenant removes what starts runs of it and waits for it, and says what stays', async () => {
  const [gone, kept] = [await fill('acme'), await fill('bolt')];
  const before = await rowsOf('bolt');
  expect(before).toEqual({ _schedule: 1, _schedule_slot: 2, _kept_event: 1, _monitor: 1, _alarm: 1 });
  expect(await rowsOf('acme')).toEqual(before);
  await lanefold.forTenant('bolt').threads.eraseTenant('acme');
  expect(await rowsOf('acme')).toEqual(before);
  expect(await webhooksOf('acme')).toBe(1);

  const { left, removed } = await lanefold.threads.eraseTenant('acme');
  expect(removed.threads).toBe(1);
  expect(await rowsOf('acme')).toEqual({ _schedule: 0, _schedule_slot: 0, _kept_event: 0, _monitor: 0, _alarm: 0 });
  expect(await webhooksOf('acme')).toBe(0);
  expect(await placesOf(lanefold, gone)).toEqual(['lanefold._audit']);
  const { rows } = await lanefold.database.pool.query(
    "select detail -> 'old' as old from lanefold.audit where action = 'webhooks.remove' and tenant_id = 'acme'",
  );
  expect(rows).toMatchObject([{ old: { origin: 'https://1.1.1.1' } }]);
  // the path and the parameters of its URL
  expect(await placesOf(lanefold, encodeURIComponent(gone))).toEqual([]);
  for (const what of ['API keys', 'limits of the tenant', 'audit', 'schedules that your programs define'])
    expect(left.filter((line) => line.includes(what))).toHaveLength(1);

  expect(await rowsOf('bolt')).toEqual(before);
  expect(await webhooksOf('bolt')).toBe(1);
  expect((await placesOf(lanefold, kept)).length).toBeGreaterThan(4);
});
