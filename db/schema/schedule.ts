import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** Schedules, one row each. The time of the next slot is the truth: whoever moves it on owns the slots it passes. */
export const schedule = lanefold.table(
  '_schedule',
  {
    /** Rises with every change. */
    version: bigint('version', { mode: 'number' }).notNull(),
    /** The next slot; null while it is paused, and once it has ended. */
    nextAt: moment('next_at'),
    pausedAt: moment('paused_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    tenantId: tenantId(),
    name: id('name').notNull(),
    agent: text('agent').notNull(),
    /** `skip`, `queue` or `interrupt`. */
    overlap: text('overlap').notNull(),
    /** The thread that its runs go on with; null: a new one for each. */
    threadId: id('thread_id'),
    /** Cron text or interval, time zone, start and end: with another timing, the next slot is computed anew. */
    timing: jsonb('timing').notNull(),
    /** The rest of the definition: input, options, catch-up, jitter. */
    definition: jsonb('definition').notNull(),
    /** `code`: a program that defines it sets it at each start. */
    source: text('source').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.name] }),
    index('_schedule_next')
      .on(t.nextAt)
      .where(sql`next_at is not null`),
  ],
);

/** The slots of schedules that have come, and what became of them. */
export const scheduleSlot = lanefold.table(
  '_schedule_slot',
  {
    slot: moment('slot').notNull(),
    /** When it starts its run: the slot and its jitter. */
    dueAt: moment('due_at').notNull(),
    /** When a worker last took it to start its run. */
    takenAt: moment('taken_at'),
    settledAt: moment('settled_at'),
    tenantId: tenantId(),
    name: id('name').notNull(),
    /** It is caught up: it waits for the run before it, whatever the overlap. */
    late: boolean('late').notNull().default(false),
    /** The request of its run, as it was when a worker first took the slot. */
    request: jsonb('request'),
    /** `due`, `firing`: a worker starts its run; `fired`, `skipped`, `missed`, `failed`. */
    status: text('status').notNull(),
    threadId: id('thread_id'),
    runId: id('run_id'),
    /** Why it failed, {code, message}. */
    error: jsonb('error'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.name, t.slot] }),
    index('_schedule_slot_open')
      .on(t.tenantId, t.name, t.slot)
      .where(sql`status in ('due', 'firing')`),
    index('_schedule_slot_fired')
      .on(t.tenantId, t.name, t.slot)
      .where(sql`status = 'fired'`),
    index('_schedule_slot_settled')
      .on(t.settledAt)
      .where(sql`settled_at is not null`),
  ],
);
