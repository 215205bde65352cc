import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitingForLock } from '../support/database.ts';
import { until } from '../support/until.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

interface Delivery {
  thread_id: string;
  id: string;
  status: string;
  attempts: number;
  next_at: Date | null;
}

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

/** Begins an attempt of a delivery, as a worker does. Returns the secrets that sign it; null: it did not begin. */
const take = async ({ thread_id, id }: Delivery, attempt: number): Promise<string[] | null> => {
  const given = JSON.stringify([{ id, attempt, failing: false }]);
  const { rows } = await lanefold.database.pool.query<{ begun: { secrets: string[] }[] | null }>(
    `select lanefold.take_deliveries($1, $2, 0, true) -> 'begun' as begun`,
    [thread_id, given],
  );
  return rows[0]!.begun?.[0]!.secrets ?? null;
};
const settle = (
  { thread_id, id }: Delivery,
  attempt: number,
  end: object,
  session: Pick<pg.Pool, 'query'> = lanefold.database.pool,
) =>
  session.query('select lanefold.settle_deliveries($1, $2, true)', [
    thread_id,
    JSON.stringify([{ id, attempt, ...end }]),
  ]);
const deliveriesOf = async (name: string) => {
  const text = `select d.* from lanefold._webhook_delivery d join lanefold._webhook w on w.id = d.webhook_id
    where w.name = $1 order by d.no`;
  return (await lanefold.database.pool.query<Delivery>(text, [name])).rows;
};
/** An endpoint with a test event. */
const endpoint = async (name: string) => {
  await lanefold.webhooks.set(name, { url: 'https://1.1.1.1/' });
  await lanefold.webhooks.test(name);
  return deliveriesOf(name);
};

test('an attempt that another one has overtaken settles nothing', async () => {
  const [delivery] = await endpoint('overtaken');
  expect(await take(delivery!, 1)).not.toBeNull();
  // the first worker is thought dead
  expect(await take(delivery!, 2)).not.toBeNull();
  const end = { delivered: true, duration_ms: 1, status_code: 200 };
  await settle(delivery!, 1, end);
  expect(await deliveriesOf('overtaken')).toMatchObject([{ status: 'pending', attempts: 2 }]);
  const failed = { delivered: false, duration_ms: 1, error: { code: 'connection', message: 'No.' } };
  await settle(delivery!, 2, failed);
  expect(await deliveriesOf('overtaken')).toMatchObject([{ status: 'failed', attempts: 2 }]);
  await settle(delivery!, 1, end);
  expect(await deliveriesOf('overtaken')).toMatchObject([{ status: 'failed', attempts: 2 }]);
});

test('of two deliveries that end at once, one makes the next one due', async () => {
  const { pool } = lanefold.database;
  await lanefold.webhooks.set('in-order', { url: 'https://1.1.1.1/', ordered: true });
  const delivered = { delivered: true, duration_ms: 1, status_code: 200 };
  for (let n = 0; n < 2; n++) await lanefold.webhooks.test('in-order');
  const [first, second] = (await deliveriesOf('in-order')) as [Delivery, Delivery];
  await take(first, 1);
  await settle(first, 1, delivered);
  // the second one is due, and so is the first one again, and another event waits for both
  expect(await lanefold.webhooks.redeliver('in-order', { id: first.id })).toMatchObject({ redelivered: 1 });
  await lanefold.webhooks.test('in-order');
  expect([await take(first, 2), await take(second, 1)]).not.toContain(null);

  const other = await pool.connect();
  await other.query('begin');
  await settle(first, 2, delivered, other);
  const settling = settle(second, 1, delivered);
  let ended = false;
  void settling.finally(() => (ended = true));
  await until('the second one waits or has ended', async () => ended || (await pool.query(waitingForLock)).rowCount);
  await other.query('commit');
  other.release();
  await settling;
  expect((await deliveriesOf('in-order')).at(-1)).toMatchObject({
    status: 'pending',
    next_at: expect.any(Date) as Date,
  });
});

test('a secret signs until its time is over', async () => {
  const [delivery] = await endpoint('rotated');
  const { secret } = await lanefold.webhooks.rotate('rotated', { keepMs: 3_600_000 });
  expect(await take(delivery!, 1)).toEqual([secret, expect.stringMatching(/^whsec_/)]);
  await lanefold.database.pool.query(
    `update lanefold._webhook set secrets = jsonb_set(secrets, '{1,expires_at}', to_jsonb(now() - interval '1 ms'))
     where name = 'rotated'`,
  );
  expect(await take(delivery!, 2)).toEqual([secret]);
});

test('an endpoint that is removed while the first attempts of an event begin gets none', async () => {
  const { pool } = lanefold.database;
  const thread = await lanefold.threads.create({});
  await lanefold.webhooks.set('removed', { url: 'https://1.1.1.1/' });
  const { rows } = await pool.query<{ id: string; delivery: string }>(
    `select id, lanefold._delivery_id(id, 'run.completed', 'key') as delivery from lanefold._webhook where name = 'removed'`,
  );
  const { id, delivery } = rows[0]!;
  await pool.query(
    `insert into lanefold._webhook_event (created_at, thread_id, type, key, webhook_ids, result_ids, payload)
     values (now(), $1, 'run.completed', 'key', array[$2], '{}', '{"data": {}}')`,
    [thread.id, id],
  );
  // beginning the attempt waits for another session that writes the same delivery, and takes it back
  const other = await pool.connect();
  await other.query('begin');
  await other.query(
    `insert into lanefold._webhook_delivery (no, created_at, thread_id, id, webhook_id, type, payload, status)
     values (1, now(), $1, $2, $3, 'run.completed', '{}', 'pending')`,
    [thread.id, delivery, id],
  );
  const spreading = pool.query<{ begun: unknown }>(
    `select lanefold.spread_event($1, 'run.completed', 'key', $2, 1000) -> 'begun' as begun`,
    [thread.id, JSON.stringify([id])],
  );
  await until('the attempt waits', async () => ((await pool.query(waitingForLock)).rowCount ?? 0) > 0);
  await lanefold.webhooks.remove('removed');
  await other.query('rollback');
  other.release();
  expect((await spreading).rows).toEqual([{ begun: null }]);
});
