import { bigint, boolean, doublePrecision, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** Alarms: filters of runs that tell webhooks when too many runs match. A worker takes the row of an alarm before it counts for it. */
export const alarm = lanefold.table(
  '_alarm',
  {
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** Tells the counts of workers apart; null after a change, so that a count by the old definition is dropped. */
    takenAt: moment('taken_at'),
    /** Until when no worker takes it: the one that took it last has it, or it was counted just now. */
    heldUntil: moment('held_until'),
    countedAt: moment('counted_at'),
    pausedAt: moment('paused_at'),
    raisedAt: moment('raised_at'),
    /** Since when no longer too many runs match, while it is raised. */
    calmSince: moment('calm_since'),
    /** How many runs matched at the last count. */
    runs: bigint('runs', { mode: 'number' }),
    /** How many runs there were, of which `share` is a share. */
    allRuns: bigint('all_runs', { mode: 'number' }),
    /** How often it was raised or cleared: the key of its events. */
    turns: bigint('turns', { mode: 'number' }).notNull().default(0),
    moreThan: bigint('more_than', { mode: 'number' }).notNull(),
    withinMs: bigint('within_ms', { mode: 'number' }).notNull(),
    clearAfterMs: bigint('clear_after_ms', { mode: 'number' }).notNull(),
    share: doublePrecision('share'),
    tenantId: tenantId(),
    name: id('name').notNull(),
    /** The filter of runs, in snake_case. */
    filter: jsonb('filter').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.name] })],
);

/** The counts of alarms over time: the highest of each five minutes. */
export const alarmCount = lanefold.table(
  '_alarm_count',
  {
    /** When the five minutes began. */
    at: moment('at').notNull(),
    runs: bigint('runs', { mode: 'number' }).notNull(),
    allRuns: bigint('all_runs', { mode: 'number' }),
    /** Whether the alarm was raised in them. */
    raised: boolean('raised').notNull(),
    tenantId: tenantId(),
    alarm: id('alarm').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.alarm, t.at] }), index('_alarm_count_old').on(t.at)],
);
