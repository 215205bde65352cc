import type { Json, JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { DeliveryStatus } from '../../webhooks/definition.ts';

/** What was sent to an endpoint, or will be. */
export interface DeliveryRow {
  /** The `webhook-id` of all its attempts. */
  id: string;
  threadId: string;
  type: string;
  status: DeliveryStatus;
  attempts: number;
  createdAt: Date;
  /** When a worker looks at it next; null once it is settled, and while it waits for an earlier one. */
  nextAt: Date | null;
  attemptedAt: Date | null;
  settledAt: Date | null;
  /** How long the last attempt took. */
  durationMs: number | null;
  statusCode: number | null;
  /** Why the last attempt failed. */
  error: { code: string; message: string } | null;
  /** The beginning of the last answer. */
  answer: string | null;
  /** The body: type, timestamp, data. */
  payload: JsonObject;
}

/** How an attempt ended. */
export interface AttemptEnd {
  delivered: boolean;
  statusCode?: number;
  durationMs: number;
  error?: { code: string; message: string };
  answer?: string;
}

/** An attempt that has begun. */
export interface TakenDelivery {
  url: string;
  name: string;
  tenant_id: string;
  webhook_id: string;
  secrets: string[];
  /** Attempts of the endpoint in a row that have failed. */
  failures: number;
  payload: Json;
  /** The number of the attempt since the last replay, without those that a stop interrupted. */
  nth: number;
}

/** Names an attempt. */
export interface AttemptRef {
  thread_id: string;
  id: string;
  attempt: number;
}

/** An attempt that was handed to the queue. */
export interface QueuedAttempt extends AttemptRef {
  /** Whether the last attempt of its endpoint had failed. */
  failing: boolean;
}

/** Begins an attempt; see `take_delivery`. Null: another worker has, or it is not to be sent now. */
export async function takeDelivery(
  db: Database,
  { thread_id, id, attempt, failing }: QueuedAttempt,
  leaseMs: number,
): Promise<TakenDelivery | null> {
  const text = 'select t.taken from lanefold.take_delivery($1, $2, $3, $4, $5) as t (taken)';
  const values = [thread_id, id, attempt, leaseMs, failing];
  return (await db.query<{ taken: TakenDelivery | null }>('take_delivery', text, values))[0]!.taken;
}

/** Records how an attempt ended; see `settle_delivery`. @param retryMs undefined: there is no further attempt */
export async function settleDelivery(
  db: Database,
  { thread_id, id, attempt }: AttemptRef,
  { statusCode, durationMs, ...end }: AttemptEnd,
  retryMs: number | undefined,
): Promise<void> {
  const given = { ...end, status_code: statusCode, duration_ms: durationMs, retry_ms: retryMs };
  await db.query('settle_delivery', 'select from lanefold.settle_delivery($1, $2, $3, $4)', [
    ...[thread_id, id, attempt, given],
  ]);
}

/** Ends an attempt that the stop of this worker has interrupted; see `release_delivery`. */
export async function releaseDelivery(db: Database, { thread_id, id, attempt }: AttemptRef): Promise<void> {
  await db.query('release_delivery', 'select from lanefold.release_delivery($1, $2, $3)', [thread_id, id, attempt]);
}

/** Sends it again; see `replay_delivery`. Returns false if there is none to be sent again. */
export async function replayDelivery(
  db: Database,
  { threadId, id }: Pick<DeliveryRow, 'threadId' | 'id'>,
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

/** The deliveries of an endpoint, newest first. */
export const readDeliveries = (
  db: Database,
  webhookId: string,
  { statuses, id, since, limit }: DeliveryQuery,
): Promise<DeliveryRow[]> =>
  db.query<DeliveryRow & Record<string, unknown>>(
    'webhook_deliveries',
    `select ${columns} from lanefold._webhook_delivery
     where webhook_id = $1 and ($2::text[] is null or status = any ($2)) and ($3::text is null or id = $3)
       and ($4::timestamptz is null or created_at >= $4)
     order by created_at desc, id limit $5`,
    [webhookId, statuses ?? null, id ?? null, since ?? null, limit],
  );
