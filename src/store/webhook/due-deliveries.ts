import type { Database } from '../../postgres/pool.ts';
import { eachThread, overThreads } from '../each-thread.ts';
import type { AttemptRef } from './deliveries.ts';

/** An attempt that is due. */
export interface DueDelivery extends AttemptRef {
  /** Whether the last attempt of its endpoint failed. */
  failing: boolean;
}

/** What may be taken at once: `each` of an endpoint, but only `failing` of one whose last attempt failed; `most` in all. */
export interface DueLimits {
  each: number;
  failing: number;
  most: number;
}

/** The oldest attempts that are due, of each endpoint that is not paused. */
export async function dueDeliveries(db: Database, limits: DueLimits): Promise<DueDelivery[]> {
  const { each, failing, most } = limits;
  if (db.settings.distributed) return dueOnNodes(db, limits);
  return db.query<DueDelivery & Record<string, unknown>>(
    'due_deliveries',
    `select d.thread_id, d.id, d.attempts + 1 as attempt, w.failures > 0 as failing
     from (select lanefold._now() as now) c cross join lanefold._webhook w cross join lateral (
       select o.thread_id, o.id, o.attempts, o.next_at from lanefold._webhook_delivery o
       where o.webhook_id = w.id and o.next_at <= c.now order by o.next_at limit case when w.failures > 0 then $2::int else $1::int end) d
     where w.paused_at is null and w.removed_at is null order by d.next_at limit $3`,
    [each, failing, most],
  );
}

/** Endpoint by endpoint: a node accepts no limit inside a statement. */
async function dueOnNodes(db: Database, { each, failing, most }: DueLimits): Promise<DueDelivery[]> {
  const webhooks = await db.query<{ id: string; failing: boolean; now: Date }>(
    'due_webhooks',
    `select id, failures > 0 as failing, c.now from lanefold._webhook, (select lanefold._now() as now) c
     where paused_at is null and removed_at is null`,
  );
  const due = await eachThread(webhooks, (webhook) =>
    db
      .query<AttemptRef & Record<string, unknown>>(
        'due_deliveries_of',
        `select thread_id, id, attempts + 1 as attempt from lanefold._webhook_delivery
       where webhook_id = $1 and next_at <= $2 order by next_at limit $3`,
        [webhook.id, webhook.now, webhook.failing ? failing : each],
      )
      .then((rows) => rows.map((row) => ({ ...row, failing: webhook.failing }))),
  );
  return due.slice(0, most);
}

/** Hands due attempts to the queue; see `queue_delivery`. Returns those whose jobs the caller adds. */
export const queueDeliveries = (db: Database, due: readonly DueDelivery[], againMs: number): Promise<DueDelivery[]> =>
  overThreads<DueDelivery, DueDelivery>(db, due, {
    together: () =>
      db.query<DueDelivery & Record<string, unknown>>(
        'queue_deliveries',
        `select r.thread_id, r.id, r.attempt, r.failing
         from jsonb_to_recordset($1) as r (thread_id text, id text, attempt int, failing boolean)
         cross join lateral lanefold.queue_delivery(r.thread_id, r.id, r.attempt, $2) as q (mine) where q.mine`,
        [JSON.stringify(due), againMs],
      ),
    one: async (delivery) => {
      const text = 'select q.mine from lanefold.queue_delivery($1, $2, $3, $4) as q (mine)';
      const values = [delivery.thread_id, delivery.id, delivery.attempt, againMs];
      const [row] = await db.query<{ mine: boolean }>('queue_delivery', text, values);
      return row!.mine ? [delivery] : [];
    },
  });
