import type { Database } from '../../postgres/pool.ts';

/**
 * How long the oldest delivery that is due has been waiting for a worker, in seconds; 0 without one. Those of webhooks that
 * are paused, or whose last attempt failed, wait for something else.
 */
export async function oldestDueSeconds(db: Database): Promise<number> {
  const [row] = await db.query<{ oldest: number | null }>(
    'oldest_due_delivery',
    `select extract(epoch from c.now - least(d.due, e.due))::float8 as oldest
     from (select lanefold._now() as now) c cross join lateral (
       select min(d.next_at) as due from lanefold._webhook_delivery d join lanefold._webhook w on w.id = d.webhook_id
       where d.next_at <= c.now and w.paused_at is null and w.removed_at is null and w.failures = 0) d cross join (
       select min(created_at) as due from lanefold._webhook_event) e`,
  );
  return row?.oldest ?? 0;
}
