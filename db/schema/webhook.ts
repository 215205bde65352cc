import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** The endpoints of webhooks. Every node has a copy, because the transaction that settles a fact looks for them. */
export const webhook = lanefold.table(
  '_webhook',
  {
    /** Rises with every change of what a caller set. */
    version: bigint('version', { mode: 'number' }).notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    pausedAt: moment('paused_at'),
    /** Since when every attempt has failed; null if the last one succeeded. */
    failingSince: moment('failing_since'),
    /** A removed endpoint keeps its row until its deliveries are deleted. */
    removedAt: moment('removed_at'),
    /** How many attempts in a row have failed. */
    failures: integer('failures').notNull().default(0),
    /** How many deliveries it has not got because too many were waiting. */
    dropped: integer('dropped').notNull().default(0),
    tenantId: tenantId(),
    id: id('id').notNull(),
    name: id('name').notNull(),
    url: text('url').notNull(),
    /** The types of events it wants; empty: all. */
    types: text('types').array().notNull(),
    /** The agents whose events it wants; empty: all. */
    agents: text('agents').array().notNull(),
    /** Whether it gets the events of a thread one after the other. */
    ordered: boolean('ordered').notNull(),
    /** Whether it gets the results of runs. */
    includeResult: boolean('include_result').notNull(),
    /** What is sent instead of the event; null: the event. */
    template: jsonb('template'),
    /** [{secret, expires_at?}], the newest first. */
    secrets: jsonb('secrets').notNull(),
    /** `manual`, `failures` or `gone`. */
    pausedReason: text('paused_reason'),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    uniqueIndex('_webhook_name')
      .on(t.tenantId, t.name)
      .where(sql`removed_at is null`),
  ],
);

/**
 * The outbox of webhooks: one row for each fact that endpoints want, written in the transaction that settles it. A worker
 * replaces it by a delivery for each endpoint. A fact of no thread has a name in `thread_id`, such as
 * `/schedules/<tenant>/<name>`.
 */
export const webhookEvent = lanefold.table(
  '_webhook_event',
  {
    createdAt: moment('created_at').notNull(),
    tenantId: tenantId(),
    threadId: id('thread_id').notNull(),
    type: text('type').notNull(),
    /** Tells the fact from others of its type and thread. */
    key: id('key').notNull(),
    /** The endpoints that are told. */
    webhookIds: text('webhook_ids').array().notNull(),
    /** Of these, those that also get the result of the run. */
    resultIds: text('result_ids').array().notNull(),
    /** The body, with the result of the run if an endpoint gets it: {type, timestamp, data}. */
    payload: jsonb('payload').notNull(),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.type, t.key] }), index('_webhook_event_age').on(t.createdAt)],
);

/**
 * What is sent to endpoints: one row for each fact and endpoint. Workers write it when they take the event from the
 * outbox; of an endpoint that wants order, the transaction that settles the fact, whose lock of the thread is the order.
 */
export const webhookDelivery = lanefold.table(
  '_webhook_delivery',
  {
    /** The order of the pending deliveries of an endpoint and thread. */
    no: bigint('no', { mode: 'number' }).notNull(),
    createdAt: moment('created_at').notNull(),
    /** When a worker looks at it next; null once it is settled, and while it waits for an earlier one. */
    nextAt: moment('next_at'),
    attemptedAt: moment('attempted_at'),
    settledAt: moment('settled_at'),
    /** Attempts begun. The number of an attempt is its fence. */
    attempts: integer('attempts').notNull().default(0),
    /** Of these, those that do not count: before the last redelivery, or ended because their worker stopped. */
    earlier: integer('earlier').notNull().default(0),
    durationMs: integer('duration_ms'),
    statusCode: integer('status_code'),
    /** Until `next_at`, it is being sent. */
    inFlight: boolean('in_flight').notNull().default(false),
    tenantId: tenantId(),
    threadId: id('thread_id').notNull(),
    /** The `webhook-id` of all its attempts, derived from endpoint and fact. */
    id: id('id').notNull(),
    webhookId: id('webhook_id').notNull(),
    type: text('type').notNull(),
    /** The body: {type, timestamp, data}. */
    payload: jsonb('payload').notNull(),
    /** `pending`, `delivered`, `failed`, or `dropped` because too many were waiting. */
    status: text('status').notNull(),
    /** Why the last attempt failed: {code, message}. */
    error: jsonb('error'),
    /** The beginning of the last answer. */
    answer: text('answer'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.id] }),
    index('_webhook_delivery_order')
      .on(t.threadId, t.webhookId, t.no)
      .where(sql`settled_at is null`),
    index('_webhook_delivery_due')
      .on(t.webhookId, t.nextAt)
      .where(sql`next_at is not null`),
    index('_webhook_delivery_flight')
      .on(t.webhookId)
      .where(sql`in_flight`),
    index('_webhook_delivery_waiting')
      .on(t.webhookId, t.createdAt)
      .where(sql`settled_at is null`),
    index('_webhook_delivery_log').on(t.webhookId, t.createdAt),
    index('_webhook_delivery_settled')
      .on(t.settledAt)
      .where(sql`settled_at is not null`),
  ],
);
