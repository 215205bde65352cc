// @module-tag slow
import { createLanefold, defineAgent } from 'lanefold';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { settleDeliveries } from '../../src/features/webhooks/store/deliveries.ts';
import { waitingForLock } from '../support/database.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { answerWith, startReceiver, type Receiver } from './receiver.ts';
import { endedRun } from './support.ts';

/** Attempts never run into their time limit here: what waits for one waits longer than the tests do. */
const worker = { webhookTimeoutMs: 60_000, sweepMs: 200 };

describe('the deliveries of a webhook', () => {
  let lanefold: TestLanefold;
  let receiver: Receiver;
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 20 } })];
    lanefold = await startLanefold({ privateWebhooks: true, agents });
  });
  beforeEach(async () => void (receiver = await startReceiver()));
  afterEach(async () => {
    for (const { name } of await lanefold.webhooks.list()) await lanefold.webhooks.remove(name);
    await receiver.close();
  });
  afterAll(() => lanefold?.close());
  const set = (name: string, more = {}) => lanefold.webhooks.set(name, { url: `${receiver.url}/${name}`, ...more });
  const sql = (text: string, values: unknown[] = []) => lanefold.database.pool.query(text, values);
  /** Another process with a worker. */
  const start = async () => {
    const other = await createLanefold(lanefold.options);
    const running = await other.startWorker(worker);
    return { stop: () => running.stop(), close: () => other.close() };
  };
  const hang: Receiver['respond'] = (request, response) => {
    if (request.path !== '/hanging') response.writeHead(200).end();
  };
  /** As if that many runs had ended. */
  const due = (name: string, count: number) =>
    sql(
      `insert into lanefold._webhook_delivery (thread_id, id, webhook_id, no, type, payload, status, created_at, next_at)
       select 'old-' || n, format('msg_%s_%s', $1::text, n), w.id, 1, 'run.completed', '{"type": "run.completed", "data": {}}', 'pending', now(),
         now() - interval '1 hour'
       from lanefold._webhook w, generate_series(1, $2::int) n where w.name = $1 and removed_at is null`,
      [name, count],
    );
  /** Begins the first attempt of a delivery. */
  const take = async (threadId: string, id: string) => {
    const text = 'select lanefold.take_deliveries($1, $2, 30000, true) as taken';
    return (await sql(text, [threadId, JSON.stringify([{ id, attempt: 1, failing: false }])])).rows[0].taken;
  };
  const all = (name: string) => lanefold.webhooks.deliveries(name, { limit: 1_000 });
  const delivered = (name: string, count: number) =>
    until(`${count} deliveries of ${name}`, async () => {
      const found = await all(name);
      return found.length === count && found.every(({ status }) => status === 'delivered') && found;
    });

  test('come at once, whatever is due for one that hangs', async () => {
    receiver.respond = hang;
    for (const name of ['hanging', 'healthy']) await set(name);
    await due('hanging', 10_000);
    const { close } = await start();
    await until('it hangs', () => receiver.at('/hanging').length >= 10);
    for (let i = 0; i < 5; i++) await endedRun(lanefold);
    await delivered('healthy', 5);
    expect(receiver.at('/hanging')).toHaveLength(10);
    await close();
  });

  test('follow one another, however many are due', async () => {
    await set('busy');
    await due('busy', 60);
    const { close } = await start();
    const sent = await delivered('busy', 60);
    expect(sent.map(({ attempts }) => attempts)).toEqual(Array(60).fill(1));
    await close();
  });

  test.each([
    ['paused', 'paused_at = now()'],
    ['failing', 'failures = 1'],
  ])('do not begin if the webhook is %s since they were found', async (name, change) => {
    await set(name);
    await due(name, 1);
    await sql("select lanefold._note_event('new', 'default', 'run.completed', 'echo', 'key', '{}')");
    const { rows: events } = await sql('select webhook_ids from lanefold._webhook_event');
    await sql(`update lanefold._webhook set ${change} where name = $1`, [name]);
    expect(await take('old-1', `msg_${name}_1`)).toEqual({ begun: null, locked: [] });
    const spread = "select lanefold.spread_event('new', 'run.completed', 'key', $1, 30000) -> 'begun' as begun";
    expect((await sql(spread, [JSON.stringify(events[0].webhook_ids)])).rows).toEqual([{ begun: null }]);
    const { rows } = await sql(
      `select in_flight, attempts, next_at <= now() as due from lanefold._webhook_delivery
       where webhook_id = (select id from lanefold._webhook where name = $1)`,
      [name],
    );
    expect(rows).toEqual(Array(2).fill({ in_flight: false, attempts: 0, due: true }));
  });

  test('in order are taken while another event of their thread is noted', async () => {
    await set('ordered', { ordered: true });
    await due('ordered', 1);
    const [noting, taking] = (await Promise.all([
      lanefold.database.pool.connect(),
      lanefold.database.pool.connect(),
    ])) as [pg.PoolClient, pg.PoolClient];
    await noting.query('begin');
    await noting.query(
      "select lanefold._note_event('old-1', 'default', 'run.failed', 'echo', 'x', '{}') from lanefold._webhook where name = 'ordered'",
    );
    let settled = false;
    const taken = taking
      .query<{ url: string | null }>(
        `select lanefold.take_deliveries('old-1', '[{"id": "msg_ordered_1", "attempt": 1, "failing": false}]', 30000, true) #>> '{begun,0,url}' as url`,
      )
      .finally(() => (settled = true));
    await until(
      'the attempt waits for the commit',
      async () => settled || (await noting.query(waitingForLock)).rows.length > 0,
    );
    await noting.query('commit');
    expect((await taken).rows).toEqual([{ url: `${receiver.url}/ordered` }]);
    noting.release();
    taking.release();
  });

  test('of many threads are recorded, also while another transaction holds one', async () => {
    await set('held');
    await due('held', 3);
    for (const no of [1, 2, 3]) await take(`old-${no}`, `msg_held_${no}`);
    const noting = await lanefold.database.pool.connect();
    await noting.query("begin; select from lanefold._webhook_delivery where id = 'msg_held_2' for update");
    const ended = [1, 2, 3].map((no) => ({
      thread_id: `old-${no}`,
      id: `msg_held_${no}`,
      attempt: 1,
      end: { delivered: true, statusCode: 204, durationMs: 1 },
    }));
    const db = openDatabase({ url: lanefold.database.url });
    const settling = settleDeliveries(db, ended);
    const count = async () => (await all('held')).filter(({ status }) => status === 'delivered').length;
    await until('the others are recorded', async () => (await count()) === 2);
    await noting.query('commit');
    noting.release();
    await settling;
    expect(await count()).toBe(3);
    await db.close();
  });

  test('are made again by another worker if theirs stops, and that is no failure', async () => {
    receiver.respond = () => {};
    await set('stopped');
    const first = await start();
    const { id } = await endedRun(lanefold);
    await until('it is being sent', () => receiver.at('/stopped').length === 1);
    await first.stop();
    expect(await all('stopped')).toMatchObject([{ status: 'pending', attempts: 1, error: null }]);
    expect(await lanefold.webhooks.get('stopped')).toMatchObject({ failures: 0 });
    receiver.respond = answerWith(200);
    const second = await start();
    expect(await delivered('stopped', 1)).toMatchObject([{ attempts: 2 }]);
    expect(receiver.at('/stopped').map(({ event }) => event.data['run_id'])).toEqual([id, id]);
    await Promise.all([first.close(), second.close()]);
  });
});
