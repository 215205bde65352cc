import { callRows } from '../../../database/store/call.ts';
import pLimit from 'p-limit';
import type { Database } from '../../../database/postgres/pool.ts';
import { callsAtOnce, overThreads } from '../../../database/store/each-thread.ts';
import { search } from '../../../database/store/nodes/guard-nodes.ts';
import type { AttemptRef, Attempt } from './deliveries.ts';
import { groupByThread, writeThreads } from './webhooks.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { bodyOf as templated, type WebhookEvent } from '../definition/body-template.ts';

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
  const args = { each, failing, only: only ? JSON.stringify(only) : null };
  return (await callRows(db.query, 'open_endpoints', args)) as OpenEndpoint[];
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

type Endpoint = Pick<Attempt, 'webhook_id' | 'tenant_id' | 'url' | 'secrets' | 'failures'> & {
  template: JsonObject | null;
};

/** An event to be taken from the outbox, and the endpoints whose first attempts begin at once. */
export interface ChosenEvent extends WaitingEvent {
  begin: string[];
}

interface Spread {
  payload: WebhookEvent;
  begun: (Endpoint & { id: string; full: boolean })[] | null;
}

/** Takes events from the outbox and begins their first attempts; see `spread_event`. */
export async function spreadEvents(db: Database, events: readonly ChosenEvent[], leaseMs: number): Promise<Attempt[]> {
  if (events.length === 0) return [];
  const given = events.map(({ thread_id, type, key, begin }) => ({ thread_id, type, key, begin }));
  type Row = { thread_id: string; spread: Spread };
  const rows = await overThreads<(typeof given)[number], Row>(db, given, {
    together: () =>
      db.query<Row>(
        'spread_events',
        `select e.thread_id, s.spread from jsonb_to_recordset($1) as e (thread_id text, type text, key text, begin jsonb)
         cross join lateral lanefold.spread_event(e.thread_id, e.type, e.key, e.begin, $2) as s (spread) where s.spread is not null`,
        [JSON.stringify(given), leaseMs],
      ),
    one: ({ thread_id, type, key, begin }) =>
      db.query<Row>(
        'spread_event',
        `select $1::text as thread_id, s.spread from lanefold.spread_event($1, $2, $3, $4, $5) as s (spread) where s.spread is not null`,
        [thread_id, type, key, JSON.stringify(begin), leaseMs],
      ),
  });
  return rows.flatMap(({ thread_id, spread }) => attemptsOf(thread_id, spread));
}

/** The body is written once for all endpoints that get the same, without a template. */
function attemptsOf(thread_id: string, { payload, begun }: Spread): Attempt[] {
  const bodies = new Map<boolean, string>();
  const plain = (full: boolean) => {
    const body = bodies.get(full) ?? JSON.stringify(full ? payload : withoutResult(payload));
    bodies.set(full, body);
    return body;
  };
  return (begun ?? []).map(({ full, template, ...rest }) => {
    const body = template ? templated(template, full ? payload : withoutResult(payload), rest.id) : plain(full);
    return { ...rest, thread_id, attempt: 1, nth: 1, body };
  });
}

function withoutResult(payload: WebhookEvent): WebhookEvent {
  const { result: _, result_bytes: __, ...data } = payload.data;
  return { ...payload, data };
}

/** A due attempt, as it was found. */
export interface FoundAttempt extends AttemptRef {
  /** Whether the last attempt of its endpoint had failed. */
  failing: boolean;
}

/** Begins attempts that are due; see `take_deliveries`. */
export async function takeDeliveries(db: Database, due: readonly FoundAttempt[], leaseMs: number): Promise<Attempt[]> {
  const threads = groupByThread(due, ({ id, attempt, failing }) => ({ id, attempt, failing }));
  const columns = `a.answer -> 'locked' as locked, a.answer -> 'begun' as begun`;
  type Begun = Omit<Attempt, 'thread_id' | 'body'> & { payload: WebhookEvent; template: JsonObject | null };
  const answers = await writeThreads<{ thread_id: string; locked: string[]; begun: Begun[] | null }>(
    db,
    'take_deliveries',
    threads,
    {
      together: `select t.thread_id, ${columns} from jsonb_to_recordset($1) as t (thread_id text, items jsonb)
        cross join lateral lanefold.take_deliveries(t.thread_id, t.items, $2, false) as a (answer)`,
      one: `select $1::text as thread_id, ${columns} from lanefold.take_deliveries($1, $2, $3, true) as a (answer)`,
      values: [leaseMs],
    },
  );
  return answers.flatMap(({ thread_id, begun }) =>
    (begun ?? []).map(({ payload, template, ...attempt }) => ({
      ...attempt,
      thread_id,
      body: template ? templated(template, payload, attempt.id) : JSON.stringify(payload),
    })),
  );
}

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
