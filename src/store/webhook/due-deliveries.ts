import pLimit from 'p-limit';
import type { Database } from '../../postgres/pool.ts';
import { callsAtOnce, overThreads } from '../each-thread.ts';
import { search } from '../nodes/search.ts';
import type { AttemptRef, QueuedAttempt } from './deliveries.ts';

/** How many deliveries of an endpoint may be in flight, or of one whose last attempt failed; `most` to take at once. */
export interface DueLimits {
  each: number;
  failing: number;
  most: number;
}

/**
 * The oldest attempts that are due, of each endpoint that is not paused, as many as may be in flight beside those that are.
 *
 * @param only the ids of the endpoints to look at; default: all
 */
export async function dueDeliveries(
  db: Database,
  limits: DueLimits,
  only?: readonly string[],
): Promise<QueuedAttempt[]> {
  const { each, failing, most } = limits;
  if (db.settings.distributed) return dueOnNodes(db, limits, only);
  return db.query<QueuedAttempt & Record<string, unknown>>(
    'due_deliveries',
    // equal times in one order for all: workers that look at the same moment choose the same rows
    `select d.thread_id, d.id, d.attempts + 1 as attempt, w.failures > 0 as failing
     from (select lanefold._now() as now) c cross join lanefold._webhook w cross join lateral (
       select greatest(0, case when w.failures > 0 then $2::int else $1::int end - count(*)) as free
       from (select from lanefold._webhook_delivery o
         where o.webhook_id = w.id and o.in_flight and o.next_at > c.now limit $1::int) i) f cross join lateral (
       select o.thread_id, o.id, o.attempts, o.next_at from lanefold._webhook_delivery o
       where o.webhook_id = w.id and o.next_at <= c.now order by o.next_at, o.thread_id, o.id limit f.free) d
     where w.paused_at is null and w.removed_at is null and ($4::text[] is null or w.id = any ($4))
     order by w.failures > 0, d.next_at limit $3`,
    [each, failing, most, only ?? null],
  );
}

/** Endpoint by endpoint: a node accepts no limit inside a statement. */
async function dueOnNodes(
  db: Database,
  { each, failing, most }: DueLimits,
  only: readonly string[] | undefined,
): Promise<QueuedAttempt[]> {
  const webhooks = await db.query<{ id: string; failing: boolean; now: Date }>(
    'due_webhooks',
    `select id, failures > 0 as failing, c.now from lanefold._webhook, (select lanefold._now() as now) c
     where paused_at is null and removed_at is null and ($1::text[] is null or id = any ($1)) order by failures > 0`,
    [only ?? null],
  );
  if (webhooks.length === 0) return [];
  const inFlight = await search<{ id: string; count: number }>(db, 'query', {
    name: 'deliveries_in_flight',
    text: `select webhook_id as id, count(*)::int as count from lanefold._webhook_delivery
     where in_flight and next_at > $1 and ($2::text[] is null or webhook_id = any ($2)) group by webhook_id`,
    values: [webhooks[0]!.now, only ?? null],
  });
  const counts = new Map<string, number>();
  for (const { id, count } of inFlight) counts.set(id, (counts.get(id) ?? 0) + count);
  const dueOf = async (webhook: (typeof webhooks)[number]) => {
    const free = (webhook.failing ? failing : each) - (counts.get(webhook.id) ?? 0);
    if (free <= 0) return [];
    const rows = await search<AttemptRef>(db, 'query', {
      name: 'due_deliveries_of',
      text: `select thread_id, id, attempts + 1 as attempt from lanefold._webhook_delivery
       where webhook_id = $1 and next_at <= $2 order by next_at, thread_id, id limit $3`,
      values: [webhook.id, webhook.now, free],
    });
    return rows.slice(0, free).map((row) => ({ ...row, failing: webhook.failing }));
  };
  const atOnce = pLimit(callsAtOnce);
  const due = await Promise.all(webhooks.map((webhook) => atOnce(dueOf, webhook)));
  return due.flat().slice(0, most);
}

/** Hands due attempts to the queue; see `queue_delivery`. Returns those whose jobs the caller adds. */
export const queueDeliveries = (
  db: Database,
  due: readonly QueuedAttempt[],
  againMs: number,
): Promise<QueuedAttempt[]> =>
  overThreads<QueuedAttempt, QueuedAttempt>(db, due, {
    together: () =>
      db.query<QueuedAttempt & Record<string, unknown>>(
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
