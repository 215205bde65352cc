import { bigint, integer, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/**
 * Ended runs by the time at which they were accepted, each counted once; see `count_activity`. A run counts in a slot of a minute,
 * of an hour, of three hours and of a day (UTC). Read the hours through the view `activity`. Counts stay when threads are erased.
 */
export const activity = lanefold.table(
  '_activity',
  {
    at: moment('at').notNull(),
    runs: bigint('runs', { mode: 'number' }).notNull(),
    failed: bigint('failed', { mode: 'number' }).notNull(),
    unanswered: bigint('unanswered', { mode: 'number' }).notNull(),
    /** The runs that a worker started, and how long they waited for that together. */
    started: bigint('started', { mode: 'number' }).notNull(),
    waitedMs: bigint('waited_ms', { mode: 'number' }).notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    inputTokens: bigint('input_tokens', { mode: 'number' }).notNull(),
    outputTokens: bigint('output_tokens', { mode: 'number' }).notNull(),
    cachedTokens: bigint('cached_tokens', { mode: 'number' }).notNull(),
    writtenTokens: bigint('written_tokens', { mode: 'number' }).notNull(),
    /** The length of the slot: 1, 60, 180 or 1440. */
    minutes: smallint('minutes').notNull(),
    tenantId: tenantId(),
    agent: text('agent').notNull(),
    /** Empty: no worker has taken the runs. */
    agentVersion: id('agent_version').notNull(),
    /** The model that spent the tokens. The runs count under the model they began with. */
    model: text('model').notNull(),
  },
  (t) => [primaryKey({ columns: [t.minutes, t.at, t.tenantId, t.agent, t.agentVersion, t.model] })],
);

/** What is known of the same runs: how many of them have a mark, failed with an error, or waited about as long. */
export const activityFact = lanefold.table(
  '_activity_fact',
  {
    at: moment('at').notNull(),
    /** When the last of the runs ended. */
    lastAt: moment('last_at').notNull(),
    runs: bigint('runs', { mode: 'number' }).notNull(),
    minutes: smallint('minutes').notNull(),
    tenantId: tenantId(),
    agent: text('agent').notNull(),
    agentVersion: id('agent_version').notNull(),
    /** `mark`, `error` or `wait`. */
    fact: id('fact').notNull(),
    /** The kind of the mark; the type of the error; how long they waited, in ms, at most: a power of the square root of two. */
    value: text('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.minutes, t.at, t.tenantId, t.agent, t.agentVersion, t.fact, t.value] })],
);

/** How far the runs are counted: one row, which a counting process locks, so that each run counts once. */
export const activityState = lanefold.table(
  '_activity_state',
  {
    /** Runs that ended up to then are counted, except what is below `filled_to`. Null: counting has not begun. */
    countedTo: moment('counted_to'),
    /** Where counting began: runs that ended before are counted by the hour in which they were accepted, newest first. */
    beganAt: moment('began_at'),
    /** The runs accepted since then that ended before `began_at` are counted. */
    filledTo: moment('filled_to'),
    /** Up to where to count next, once every transaction older than `next_xid` has ended. */
    nextTo: moment('next_to'),
    nextXid: bigint('next_xid', { mode: 'bigint' }),
    id: integer('id').notNull().default(1),
  },
  (t) => [primaryKey({ columns: [t.id] })],
);
