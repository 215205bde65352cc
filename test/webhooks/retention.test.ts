import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { giveUpOldDeliveries } from '../../src/features/webhooks/worker/deliver.ts';
import { dropOldDeliveries } from '../../src/features/webhooks/worker/part.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
let db: Database;
beforeAll(async () => {
  lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  db = openDatabase({ url: lanefold.database.url });
});
afterAll(async () => {
  await db?.close();
  await lanefold?.close();
});

test('settled deliveries are kept for a while, pending ones until they are settled, those of a removed webhook not at all', async () => {
  const { webhooks, database } = lanefold;
  for (const name of ['kept', 'removed']) {
    await webhooks.set(name, { url: 'https://1.1.1.1/' });
    for (let i = 0; i < 3; i++) await webhooks.test(name);
  }
  for (const [no, days] of [
    [1, 3],
    [2, 1],
  ] as const)
    await database.pool.query(
      "update lanefold._webhook_delivery set status = 'delivered', next_at = null, settled_at = $2 where no = $1",
      [no, new Date(Date.now() - days * 86_400_000)],
    );
  await webhooks.remove('removed');
  const left = async () =>
    (await database.pool.query<{ n: number }>('select count(*)::int as n from lanefold._webhook_delivery')).rows[0]!.n;
  await dropOldDeliveries(db, 0);
  expect(await left()).toBe(3);
  await dropOldDeliveries(db, 2);
  expect((await webhooks.deliveries('kept')).map(({ status }) => status)).toEqual(['pending', 'delivered']);
  await passDay();
  await dropOldDeliveries(db, 2);
  expect((await database.pool.query('select name from lanefold._webhook')).rows).toEqual([{ name: 'kept' }]);
});

/** As if removed webhooks had been removed a day earlier. */
const passDay = () =>
  lanefold.database.pool.query('update lanefold._webhook set removed_at = $1 where removed_at is not null', [
    new Date(Date.now() - 90_000_000),
  ]);

test('of a removed webhook, also those that a transaction commits later are deleted', async () => {
  const { webhooks, database } = lanefold;
  await webhooks.set('raced', { url: 'https://1.1.1.1/' });
  const client = await database.pool.connect();
  await client.query('begin');
  await client.query("select lanefold._note_event('thread', 'default', 'run.completed', 'echo', 'key', '{}')");
  await client.query("select lanefold.spread_event('thread', 'run.completed', 'key', '[]', 1000)");
  await webhooks.remove('raced');
  await dropOldDeliveries(db, 0);
  await client.query('commit');
  client.release();
  const count = async (where: string) =>
    (await database.pool.query(`select from lanefold._webhook_delivery where ${where}`)).rowCount;
  expect(await count("webhook_id in (select id from lanefold._webhook where name = 'raced')")).toBe(1);
  await passDay();
  await dropOldDeliveries(db, 0);
  expect(await count('webhook_id not in (select id from lanefold._webhook)')).toBe(0);
});

test('of those that wait for a paused webhook, or one that has failed for long, the newest are kept', async () => {
  const { webhooks, database } = lanefold;
  const names = ['paused', 'failing', 'recovering', 'ordered'];
  for (const name of names) {
    await webhooks.set(name, { url: 'https://1.1.1.1/', ordered: name === 'ordered' });
    for (let i = 0; i < 5; i++) await webhooks.test(name);
    if (name === 'paused' || name === 'ordered') await webhooks.pause(name);
  }
  for (const [name, hours] of [
    ['failing', 2],
    ['recovering', 0],
  ] as const)
    await database.pool.query(
      "update lanefold._webhook set failures = 3, failing_since = now() - $2::int * interval '1 hour' where name = $1",
      [name, hours],
    );
  await giveUpOldDeliveries(db, 3);
  await giveUpOldDeliveries(db, 3);
  for (const name of names) {
    const dropped = name === 'recovering' ? 0 : 2;
    const deliveries = (await webhooks.deliveries(name)).reverse();
    expect(deliveries.map(({ status }) => status)).toEqual(
      deliveries.map((_, i) => (i < dropped ? 'dropped' : 'pending')),
    );
    expect(await webhooks.get(name)).toMatchObject({ dropped });
    // the next of its thread no longer waits for one that was dropped
    expect(deliveries[dropped]!.nextAt).not.toBeNull();
  }
  const since = new Date(Date.now() - 3_600_000);
  expect(await webhooks.redeliver('paused', { since })).toEqual({ redelivered: 2 });
});
