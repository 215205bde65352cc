import { sql } from 'drizzle-orm';
import { bigint, boolean, doublePrecision, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/**
 * Limits, one row each, as `set_limit` stores them. Read them through the view `limit_usage`. The tables of limits name
 * runs but refer to no thread, so that a bucket and a run may be on different nodes.
 */
export const limit = lanefold.table(
  '_limit',
  {
    /** Rises with every change of any limit: the highest one tells a process whether it knows the current limits. */
    version: bigint('version', { mode: 'number' }).notNull(),
    /** For `money`, in billionths of a US dollar. */
    amount: bigint('amount', { mode: 'number' }).notNull(),
    /** Length of a sliding interval. */
    perMs: bigint('per_ms', { mode: 'number' }),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** A removed limit keeps its row, whose version tells processes. */
    removedAt: moment('removed_at'),
    /** The tenant that set it, for its own runs; `*`: the operator, for all runs. */
    owner: id('owner').notNull(),
    name: id('name').notNull(),
    /** `concurrency`, `runs`, `requests`, `tokens` or `money`. */
    kind: text('kind').notNull(),
    /** Which runs it applies to, {dimension: value}; `*`: each value of the dimension has a bucket of its own. */
    scope: jsonb('scope').notNull(),
    /** Other amounts for single buckets, {key: amount}. */
    amounts: jsonb('amounts'),
    /** For `tokens`: `input`, `output` or `total`. */
    tokens: text('tokens'),
    /** `day`, `week` or `month`, instead of a sliding interval. */
    calendar: text('calendar'),
    timeZone: text('time_zone'),
    /** The dimension whose values take turns, and their weights, {value: weight}. */
    share: id('share'),
    weights: jsonb('weights'),
    /** What only runs with a value of `share` may use, {value: amount}. */
    reserve: jsonb('reserve'),
    /** `wait`, `end` or `notice`: what happens once the amount is used. */
    onExhausted: text('on_exhausted').notNull().default('wait'),
    updatedBy: text('updated_by').notNull(),
  },
  // every claim asks for the newest version
  (t) => [primaryKey({ columns: [t.owner, t.name] }), index('_limit_version').on(t.version)],
);

/**
 * What was used of a limit, one row for each value of its scope. `ring` has the use of the latest slices of the
 * interval, each at the position of its number modulo the length.
 */
export const limitBucket = lanefold.table(
  '_limit_bucket',
  {
    /** The number of the newest slice in `ring`. */
    slice: bigint('slice', { mode: 'number' }).notNull(),
    /** The sum of `ring`, including what is reserved. */
    used: bigint('used', { mode: 'number' }).notNull(),
    reserved: bigint('reserved', { mode: 'number' }).notNull(),
    /** Everything that was ever settled. */
    total: bigint('total', { mode: 'number' }).notNull(),
    /** The provider asked to wait until then. */
    drainedUntil: moment('drained_until'),
    /** Of a limit that only gives notice: when it did last. */
    noticedAt: moment('noticed_at'),
    touchedAt: moment('touched_at').notNull(),
    /** Fair shares: the turn that was granted last. */
    turn: doublePrecision('turn').notNull().default(0),
    waiting: integer('waiting').notNull().default(0),
    /** No run waits. A column, so that only the first and the last waiting run touch the index. */
    idle: boolean('idle').generatedAlwaysAs(sql`waiting = 0`),
    owner: id('owner').notNull(),
    name: id('name').notNull(),
    /** The values of the scope's `*` dimensions. */
    key: id('key').notNull(),
    ring: bigint('ring', { mode: 'number' }).array().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.owner, t.name, t.key] }),
    // the keys of a limit as they are listed: those that runs wait for first
    index('_limit_bucket_listed').on(t.owner, t.name, t.idle, t.key),
  ],
);

/** Fair shares of a bucket: when each value of the sharing dimension had its last turn. */
export const limitShare = lanefold.table(
  '_limit_share',
  {
    turn: doublePrecision('turn').notNull(),
    owner: id('owner').notNull(),
    name: id('name').notNull(),
    key: id('key').notNull(),
    share: id('share').notNull(),
  },
  (t) => [primaryKey({ columns: [t.owner, t.name, t.key, t.share] })],
);

/** What each unfinished run holds of its limits, and for what it waits. */
export const limitAccount = lanefold.table(
  '_limit_account',
  {
    touchedAt: moment('touched_at').notNull(),
    /** Its place among the waiting runs: when the run was accepted. */
    since: moment('since'),
    /** When the limit may let it go on, if that is known. */
    until: moment('until'),
    priority: integer('priority').notNull().default(0),
    /** Its turn has come, and `holds` has what it takes. */
    granted: boolean('granted').notNull().default(false),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    /** {bucket: [reserved, slice of the reservation, settled]}; the bucket as `_limit_place` names it. */
    holds: jsonb('holds').notNull(),
    /** While it waits: the bucket. */
    waitOwner: id('wait_owner'),
    waitName: id('wait_name'),
    waitKey: id('wait_key'),
    waitShare: id('wait_share'),
    /** While it waits: what it takes when its turn comes, and its job. */
    wants: jsonb('wants'),
    job: jsonb('job'),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.threadId] }),
    index('_limit_account_waiting')
      .on(t.waitOwner, t.waitName, t.waitKey, t.waitShare, t.priority, t.since)
      .where(sql`wait_name is not null`),
  ],
);
