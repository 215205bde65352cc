import { call } from '../../../database/store/call.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { DeliveryStatus, WebhookDelivery } from '../types.ts';
import { groupByThread, writeThreads } from './webhooks.ts';
import { readRows } from '../../../database/store/rows.ts';
import { eachThread } from '../../../database/store/each-thread.ts';

/** How an attempt ended. */
export interface AttemptEnd {
  delivered: boolean;
  statusCode?: number;
  durationMs: number;
  error?: { code: string; message: string };
  answer?: string;
  /** How long the receiver asks to be left alone. */
  retryAfterMs?: number;
}

/** An attempt that has begun. */
export interface Attempt extends AttemptRef {
  url: string;
  tenant_id: string;
  webhook_id: string;
  secrets: string[];
  /** Attempts of the endpoint in a row that have failed. */
  failures: number;
  /** The number of the attempt since the last redelivery, without those that a stop interrupted. */
  nth: number;
  /** What is sent. */
  body: string;
}

/** Names an attempt. */
export interface AttemptRef {
  thread_id: string;
  id: string;
  attempt: number;
}

/** An attempt with how it ended; without `end`, the stop of its worker or an old connection has interrupted it. */
export interface EndedAttempt extends AttemptRef {
  end?: AttemptEnd;
  /** Until the next attempt; undefined: there is none. */
  retryMs?: number | undefined;
}

/** Records how attempts ended; see `settle_deliveries`. Returns whether others that waited for them are due. */
export async function settleDeliveries(db: Database, ended: readonly EndedAttempt[]): Promise<boolean> {
  const threads = groupByThread(ended, ({ id, attempt, end, retryMs }) => {
    if (!end) return { id, attempt, released: true };
    const { statusCode, durationMs, retryAfterMs: _, ...more } = end;
    return { id, attempt, ...more, status_code: statusCode, duration_ms: durationMs, retry_ms: retryMs };
  });
  const columns = "s.answer -> 'locked' as locked, (s.answer -> 'next')::boolean as next";
  type Answer = { thread_id: string; locked: string[]; next: boolean };
  const answers = await writeThreads<Answer>(db, 'settle_deliveries', threads, {
    together: `select t.thread_id, ${columns} from jsonb_to_recordset($1) as t (thread_id text, items jsonb)
      cross join lateral lanefold.settle_deliveries(t.thread_id, t.items, false) as s (answer)`,
    one: `select $1::text as thread_id, ${columns} from lanefold.settle_deliveries($1, $2, true) as s (answer)`,
  });
  return answers.some(({ next }) => next);
}

/** Sends it again; see `redeliver`. Returns false if there is none to be sent again. */
export async function redeliver(
  db: Database,
  { threadId, id }: Pick<WebhookDelivery, 'threadId' | 'id'>,
  webhookId: string,
  by: string,
): Promise<boolean> {
  return await call(db.query, 'redeliver', { threadId, id, webhookId, by });
}

const columns = `id, thread_id, type, status, attempts, created_at, next_at, attempted_at, settled_at, duration_ms, status_code, error,
  answer, payload`;

export interface DeliveryQuery {
  statuses?: readonly DeliveryStatus[] | undefined;
  id?: string | undefined;
  since?: Date | undefined;
  limit: number;
}

/** The deliveries of an endpoint, newest first; those that are still in the outbox, too. */
export async function readDeliveries(
  db: Database,
  webhookId: string,
  query: DeliveryQuery,
): Promise<WebhookDelivery[]> {
  const { statuses, id, since, limit } = query;
  const values = [webhookId, id ?? null, since ?? null, limit];
  // the outbox first: what a worker takes from it meanwhile is then found twice rather than not at all
  const waiting = statuses && !statuses.includes('pending') ? [] : await readOutbox(db, values);
  const rows = await readRows<WebhookDelivery>(
    db,
    'webhook_deliveries',
    `select ${columns} from lanefold._webhook_delivery
     where webhook_id = $1 and ($2::text is null or id = $2) and ($3::timestamptz is null or created_at >= $3)
       and ($5::text[] is null or status = any ($5))
     order by created_at desc, id limit $4`,
    [...values, statuses ?? null],
  );
  const taken = new Set(rows.map((row) => row.id));
  return [...waiting.filter((row) => !taken.has(row.id)), ...rows]
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .slice(0, limit);
}

const readOutbox = (db: Database, values: unknown[]): Promise<WebhookDelivery[]> =>
  readRows<WebhookDelivery>(
    db,
    'webhook_outbox',
    `select x.id, e.thread_id, e.type, 'pending' as status, 0 as attempts, e.created_at, e.created_at as next_at,
       null as attempted_at, null as settled_at, null as duration_ms, null as status_code, null as error, null as answer,
       case when $1 = any (e.result_ids) then e.payload else e.payload #- '{data,result}' #- '{data,result_bytes}' end as payload
     from lanefold._webhook_event e cross join lateral (select lanefold._delivery_id($1, e.type, e.key) as id) x
     where $1 = any (e.webhook_ids) and ($2::text is null or x.id = $2)
       and ($3::timestamptz is null or e.created_at >= $3)
     order by e.created_at desc limit $4`,
    values,
  );

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
  await eachThread(db, byThread(due), async ({ threadId, ids }) => [
    await call(db.query, 'drop_deliveries', { threadId, ids: JSON.stringify(ids) }),
  ]);
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
  const counts = await eachThread(db, byThread(waiting), async ({ threadId, ids }) => [
    await call(db.query, 'give_up_deliveries', { threadId, webhookId, ids: JSON.stringify(ids) }),
  ]);
  return { tooMany: waiting.length, dropped: counts.reduce((sum, count) => sum + count, 0) };
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
