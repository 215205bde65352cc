import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/postgres/pool.ts';
import { dropOldDeliveries } from '../../src/runtime/webhooks/drop-old-deliveries.ts';
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
  expect((await database.pool.query('select name from lanefold._webhook')).rows).toEqual([{ name: 'kept' }]);
});
