import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** Schedules, one row each. Only the worker that advances `next_at`, by compare-and-set, stores the slots it passes. */
export const schedule = lanefold.table(
  '_schedule',
  {
    /** Rises with every change. */
    version: bigint('version', { mode: 'number' }).notNull(),
    /** The next slot; null while the schedule is paused, and after it has ended. */
    nextAt: moment('next_at'),
    pausedAt: moment('paused_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    tenantId: tenantId(),
    name: id('name').notNull(),
    agent: text('agent').notNull(),
    /** `skip`, `queue` or `interrupt`. */
    overlap: text('overlap').notNull(),
    /** The thread that all its runs continue; null: a new thread for each run. */
    threadId: id('thread_id'),
    /** Cron expression or interval, time zone, start and end. A change recomputes the next slot. */
    timing: jsonb('timing').notNull(),
    /** The rest of the definition: input, options, catch-up, jitter. */
    definition: jsonb('definition').notNull(),
    /** `code`: set by a program, at each start of its workers; `user`: set by anybody else. */
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

/** Slots whose time has come, and their outcome. */
export const scheduleSlot = lanefold.table(
  '_schedule_slot',
  {
    slot: moment('slot').notNull(),
    /** When the run starts: the slot plus its jitter. */
    dueAt: moment('due_at').notNull(),
    /** When a worker last took the slot to start its run. */
    takenAt: moment('taken_at'),
    settledAt: moment('settled_at'),
    tenantId: tenantId(),
    name: id('name').notNull(),
    /** Whether the slot is caught up. If so, it waits for the previous run, whatever `overlap` says. */
    late: boolean('late').notNull().default(false),
    /** Whether a worker has found that it waits for the previous run. */
    waits: boolean('waits').notNull().default(false),
    /** The run's request, as of when a worker first took the slot. */
    request: jsonb('request'),
    /** `due`, `firing` (a worker is starting the run), `fired`, `skipped`, `missed` or `failed`. */
    status: text('status').notNull(),
    threadId: id('thread_id'),
    runId: id('run_id'),
    /** Why the run was refused: {code, message}. */
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
