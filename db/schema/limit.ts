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
    /** The dimension whose values take turns, and how many turns each gets, {value: turns}. */
    shareBy: id('share_by'),
    shares: jsonb('shares'),
    /** What only runs with a value of `share_by` may use, {value: amount}. */
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
    /** What runs that no worker has claimed yet will take; in no slice, so it does not leave the interval. */
    granted: bigint('granted', { mode: 'number' }).notNull().default(0),
    /** Everything that was ever settled. */
    total: bigint('total', { mode: 'number' }).notNull(),
    /** The provider asked to wait until then. */
    drainedUntil: moment('drained_until'),
    /** Of a limit that only gives notice: when it did last. */
    noticedAt: moment('noticed_at'),
    touchedAt: moment('touched_at').notNull(),
    /** Fair shares: the turn that was granted last. */
    turn: doublePrecision('turn').notNull().default(0),
    /** Waiting runs that need it, also those that only another limit has refused. */
    lined: integer('lined').notNull().default(0),
    /** Waiting runs that it refused when they asked last. */
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

/** What each unfinished run holds of its limits, and what it waits for. */
export const limitAccount = lanefold.table(
  '_limit_account',
  {
    touchedAt: moment('touched_at').notNull(),
    /** Its place among the waiting runs: when the run was accepted. */
    since: moment('since'),
    priority: integer('priority').notNull().default(0),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    /** {bucket: [reserved, slice of the newest reservation, settled]}; the bucket as `_limit_place` names it. */
    holds: jsonb('holds').notNull(),
    /** {bucket: amount} of a run whose turn has come, until a worker claims it. */
    grants: jsonb('grants'),
    /** While it waits: what it takes when its turn comes, `{take, shares}`. */
    wants: jsonb('wants'),
    /** While it waits: its job. */
    job: jsonb('job'),
  },
  (t) => [primaryKey({ columns: [t.runId, t.threadId] })],
);

/**
 * The line: one row for each waiting run and bucket that it needs. One order holds in all of them: by priority, then since
 * when, then id. Runs of a lane need the same buckets and the same workers, so only the first of a lane can be next.
 */
export const limitWait = lanefold.table(
  '_limit_wait',
  {
    since: moment('since').notNull(),
    amount: bigint('amount', { mode: 'number' }).notNull(),
    priority: integer('priority').notNull(),
    /** The bucket refused the run when it asked last. */
    refused: boolean('refused').notNull(),
    owner: id('owner').notNull(),
    name: id('name').notNull(),
    key: id('key').notNull(),
    /** See `_limit_lane`. */
    lane: id('lane').notNull(),
    /** Its value of the dimension whose values take turns, or empty. */
    share: id('share').notNull(),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.threadId, t.owner, t.name, t.key] }),
    index('_limit_wait_lane').on(t.owner, t.name, t.key, t.lane, t.priority, t.since, t.threadId, t.runId),
  ],
);
