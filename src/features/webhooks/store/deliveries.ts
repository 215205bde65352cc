import type { Database } from '../../../database/postgres/pool.ts';
import type { DeliveryStatus, WebhookDelivery } from '../types.ts';
import { groupByThread, writeThreads } from './write-threads.ts';

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
  /** The number of the attempt since the last replay, without those that a stop interrupted. */
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

/** Sends it again; see `replay_delivery`. Returns false if there is none to be sent again. */
export async function replayDelivery(
  db: Database,
  { threadId, id }: Pick<WebhookDelivery, 'threadId' | 'id'>,
  webhookId: string,
  by: string,
): Promise<boolean> {
  const text = 'select r.found from lanefold.replay_delivery($1, $2, $3, $4) as r (found)';
  return (await db.query<{ found: boolean }>('replay_delivery', text, [threadId, id, webhookId, by]))[0]!.found;
}

const columns = `id, thread_id as "threadId", type, status, attempts, created_at as "createdAt", next_at as "nextAt",
  attempted_at as "attemptedAt", settled_at as "settledAt", duration_ms as "durationMs", status_code as "statusCode", error, answer, payload`;

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
  const rows = await db.query<WebhookDelivery & Record<string, unknown>>(
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
  db.query<WebhookDelivery & Record<string, unknown>>(
    'webhook_outbox',
    `select x.id, e.thread_id as "threadId", e.type, 'pending' as status, 0 as attempts, e.created_at as "createdAt", e.created_at as "nextAt",
       null as "attemptedAt", null as "settledAt", null as "durationMs", null as "statusCode", null as error, null as answer,
       case when $1 = any (e.result_ids) then e.payload else e.payload #- '{data,result}' #- '{data,result_bytes}' end as payload
     from lanefold._webhook_event e cross join lateral (select lanefold._delivery_id($1, e.type, e.key) as id) x
     where $1 = any (e.webhook_ids) and ($2::text is null or x.id = $2)
       and ($3::timestamptz is null or e.created_at >= $3)
     order by e.created_at desc limit $4`,
    values,
  );
