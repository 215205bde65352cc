import pLimit from 'p-limit';
import type { Database } from '../../../database/postgres/pool.ts';
import { callsAtOnce } from '../../../database/store/each-thread.ts';
import { search } from '../../../database/store/nodes/search.ts';
import type { AttemptRef } from './deliveries.ts';

/** An event that no worker has taken from the outbox. */
export interface WaitingEvent {
  thread_id: string;
  type: string;
  key: string;
  webhook_ids: string[];
  created_at: Date;
}

/** An attempt that is due. */
export interface DueAttempt extends AttemptRef {
  /** Since when, in seconds. */
  since: number;
}

/** An endpoint that may be told something. */
export interface OpenEndpoint {
  id: string;
  /** Whether its last attempt failed. */
  failing: boolean;
  /** How many attempts may begin, beside those in flight. */
  free: number;
  /** The oldest deliveries that are due, as many as are free. */
  due: DueAttempt[];
}

/** How many deliveries of an endpoint may be in flight, or of one whose last attempt failed. */
export interface DueLimits {
  each: number;
  failing: number;
}

/** The oldest events in the outbox, of those that were noted since `from`; default: of all. */
export async function waitingEvents(db: Database, most: number, from?: Date): Promise<WaitingEvent[]> {
  const events = await search<WaitingEvent>(db, 'query', {
    name: 'waiting_events',
    text: `select thread_id, type, key, webhook_ids, created_at from lanefold._webhook_event
     where created_at >= coalesce($2::timestamptz, '-infinity') order by created_at, thread_id limit $1`,
    values: [most, from ?? null],
  });
  return events.slice(0, most);
}

/**
 * Endpoints that are neither paused nor removed, with what is due for them.
 *
 * @param only the ids of the endpoints to look at, besides those that want order; default: all
 */
export async function openEndpoints(
  db: Database,
  limits: DueLimits,
  only: readonly string[] | undefined,
): Promise<OpenEndpoint[]> {
  const { each, failing } = limits;
  if (db.settings.distributed) return openOnNodes(db, limits, only);
  return db.query<OpenEndpoint & Record<string, unknown>>(
    'open_endpoints',
    'select o.id, o.failing, o.free, o.due from lanefold.open_endpoints($1, $2, $3) as o',
    [each, failing, only ? JSON.stringify(only) : null],
  );
}

/** Endpoint by endpoint: a node accepts no limit inside a statement. */
async function openOnNodes(
  db: Database,
  { each, failing }: DueLimits,
  only: readonly string[] | undefined,
): Promise<OpenEndpoint[]> {
  const webhooks = await db.query<{ id: string; failing: boolean; now: Date }>(
    'due_webhooks',
    `select id, failures > 0 as failing, c.now from lanefold._webhook, (select lanefold._now() as now) c
     where paused_at is null and removed_at is null and ($1::text[] is null or ordered or id = any ($1))`,
    [only ?? null],
  );
  if (webhooks.length === 0) return [];
  const inFlight = await search<{ id: string; count: number }>(db, 'query', {
    name: 'deliveries_in_flight',
    text: `select webhook_id as id, count(*)::int as count from lanefold._webhook_delivery
     where in_flight and next_at > $1 and webhook_id = any ($2) group by webhook_id`,
    values: [webhooks[0]!.now, webhooks.map(({ id }) => id)],
  });
  const counts = new Map<string, number>();
  for (const { id, count } of inFlight) counts.set(id, (counts.get(id) ?? 0) + count);
  const dueOf = async (webhook: (typeof webhooks)[number]): Promise<OpenEndpoint> => {
    const free = Math.max(0, (webhook.failing ? failing : each) - (counts.get(webhook.id) ?? 0));
    const open = { id: webhook.id, failing: webhook.failing, free };
    if (free === 0) return { ...open, due: [] };
    const due = await search<DueAttempt>(db, 'query', {
      name: 'due_deliveries_of',
      text: `select thread_id, id, attempts + 1 as attempt, extract(epoch from next_at)::float8 as since from lanefold._webhook_delivery
       where webhook_id = $1 and next_at <= $2 order by next_at, thread_id, id limit $3`,
      values: [webhook.id, webhook.now, free],
    });
    return { ...open, due: due.slice(0, free) };
  };
  const atOnce = pLimit(callsAtOnce);
  return Promise.all(webhooks.map((webhook) => atOnce(dueOf, webhook)));
}
