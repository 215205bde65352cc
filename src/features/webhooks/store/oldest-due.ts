import type { Database } from '../../../database/postgres/pool.ts';

/**
 * How long the oldest event, or delivery that is due, has been waiting for a worker, in seconds; 0 without one. Those of webhooks that
 * are paused, or whose last attempt failed, wait for something else.
 */
export async function oldestDueSeconds(db: Database): Promise<number> {
  const [deliveries, events] = await Promise.all([
    db.query<{ oldest: number | null }>(
      'oldest_due_delivery',
      `select extract(epoch from c.now - min(d.next_at))::float8 as oldest
       from lanefold._webhook_delivery d join lanefold._webhook w on w.id = d.webhook_id, (select lanefold._now() as now) c
       where d.next_at <= c.now and w.paused_at is null and w.removed_at is null and w.failures = 0 group by c.now`,
    ),
    db.query<{ oldest: number | null }>(
      'oldest_event',
      `select extract(epoch from c.now - min(e.created_at))::float8 as oldest
       from lanefold._webhook_event e, (select lanefold._now() as now) c group by c.now`,
    ),
  ]);
  return Math.max(0, deliveries[0]?.oldest ?? 0, events[0]?.oldest ?? 0);
}
