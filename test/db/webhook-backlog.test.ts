import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { citusLacks } from '../support/citus-lacks.ts';
import { openLog, type TestLog } from './helpers.ts';

const backlog = 5_000;
const leaseMs = 30_000;

describe.skipIf(citusLacks.plans)('an endpoint for which thousands of deliveries are due', () => {
  let log: TestLog;
  /** As the session of a worker that began when the endpoint had none, and keeps its plans. */
  let session: pg.Client;
  let events = 0;
  beforeAll(async () => {
    log = await openLog();
    session = new pg.Client(log.url);
    await session.connect();
    const definition = { url: 'https://example.com', types: [], agents: [], ordered: false, include_result: false };
    await session.query(`select lanefold.set_webhook('default', 'w', 'w', $1)`, [{ ...definition, by: 'test' }]);
    // PostgreSQL keeps a plan from the sixth execution on
    for (let n = 0; n < 10; n++) await deliver();
    await session.query(
      `insert into lanefold._webhook_delivery (thread_id, id, webhook_id, no, type, payload, status, created_at, next_at)
       select 'other' || n, 'msg_' || n, 'w', 1, 'run.completed', '{}', 'pending', at, at
       from generate_series(1, $1::int) n cross join lateral (select now() - interval '1 hour' + n * interval '1 ms' as at) c`,
      [backlog],
    );
  });
  afterAll(async () => {
    await session.end();
    await log.drop();
  });

  /** How many deliveries the statements read. */
  async function deliveriesRead(work: () => Promise<unknown>): Promise<number> {
    await session.query('begin');
    const count = async () => {
      const { rows } = await session.query<{ read: number }>(
        `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables where relname = '_webhook_delivery'`,
      );
      return rows[0]!.read;
    };
    const before = await count();
    await work();
    const read = (await count()) - before;
    await session.query('commit');
    return read;
  }

  const call = (text: string, ...values: unknown[]) => session.query(`select ${text}`, values);
  /** A new event becomes a delivery, whose attempt begins. Returns its thread. */
  async function spread(): Promise<string> {
    const thread = `t${(events += 1)}`;
    await call(`lanefold._note_event($1, 'default', 'run.completed', 'a', 'r', '{}')`, thread);
    await call(`lanefold.spread_event($1, 'run.completed', 'r', '["w"]', $2)`, thread, leaseMs);
    return thread;
  }
  /** The same, then its attempt ends, and the next ones are looked for. */
  async function deliver(): Promise<void> {
    const thread = await spread();
    const id = `lanefold._delivery_id('w', 'run.completed', 'r')`;
    const items = `jsonb_build_array(jsonb_build_object('id', ${id}, 'attempt', 1, 'delivered', true))`;
    await call(`lanefold.settle_deliveries($1, ${items}, false)`, thread);
    await session.query('select * from lanefold.open_endpoints(10, 1, null)');
  }

  test('costs an event nothing before PostgreSQL has statistics of the table', async () => {
    expect(await deliveriesRead(spread)).toBeLessThan(20);
  });

  test('costs a delivery nothing once PostgreSQL has them', async () => {
    await session.query('analyze lanefold._webhook_delivery');
    expect(await deliveriesRead(deliver)).toBeLessThan(50);
  });
});
