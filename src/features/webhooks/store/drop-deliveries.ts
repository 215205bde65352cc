import type { Database } from '../../../database/postgres/pool.ts';
import { eachThread } from '../../../database/store/each-thread.ts';

/** Deletes old deliveries: settled ones of more than `days` ago, or all of a removed endpoint. Returns how many were due. */
export async function dropDeliveries(db: Database, which: { days: number } | { webhookId: string }, most: number) {
  const due =
    'days' in which
      ? await db.queryLong<{ thread_id: string; id: string }>(
          'old_deliveries',
          `select thread_id, id from lanefold._webhook_delivery
           where settled_at < (select lanefold._now() - $1::float8 * interval '1 day') order by settled_at limit $2`,
          [which.days, most],
        )
      : await db.queryLong<{ thread_id: string; id: string }>(
          'removed_deliveries',
          'select thread_id, id from lanefold._webhook_delivery where webhook_id = $1 limit $2',
          [which.webhookId, most],
        );
  const text = 'select d.dropped from lanefold.drop_deliveries($1, $2) as d (dropped)';
  await eachThread(db, byThread(due), ({ threadId, ids }) =>
    db.query('drop_deliveries', text, [threadId, JSON.stringify(ids)]),
  );
  return due.length;
}

/**
 * Gives up pending deliveries of an endpoint, except its newest `keep` and those in flight; up to `most` at once. Returns how
 * many there were too many, of those at most, and how many it gave up.
 */
export async function giveUpDeliveries(
  db: Database,
  webhookId: string,
  keep: number,
  most: number,
): Promise<{ tooMany: number; dropped: number }> {
  const waiting = await db.queryLong<{ thread_id: string; id: string }>(
    'too_many_deliveries',
    `select thread_id, id from lanefold._webhook_delivery
     where webhook_id = $1 and settled_at is null order by created_at desc offset $2 limit $3`,
    [webhookId, keep, most],
  );
  const text = 'select g.dropped from lanefold.give_up_deliveries($1, $2, $3) as g (dropped)';
  const counts = await eachThread(db, byThread(waiting), ({ threadId, ids }) =>
    db.query<{ dropped: number }>('give_up_deliveries', text, [threadId, webhookId, JSON.stringify(ids)]),
  );
  return { tooMany: waiting.length, dropped: counts.reduce((sum, { dropped }) => sum + dropped, 0) };
}

function byThread(deliveries: readonly { thread_id: string; id: string }[]): { threadId: string; ids: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { thread_id, id } of deliveries) {
    const ids = found.get(thread_id);
    if (ids) ids.push(id);
    else found.set(thread_id, [id]);
  }
  return [...found].map(([threadId, ids]) => ({ threadId, ids }));
}
