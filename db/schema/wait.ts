import { sql } from 'drizzle-orm';
import { doublePrecision, index, integer, jsonb, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/**
 * What tool calls wait for, one row for each wait, and the runs they started. A run is suspended as long as one of its
 * waits is open. Read it through the view `run_wait`.
 */
export const wait = lanefold.table(
  '_wait',
  {
    createdAt: moment('created_at').notNull(),
    /** When the wait ends by itself; null: never. */
    until: moment('until'),
    endedAt: moment('ended_at'),
    /** When the end of its child run became known to this thread. */
    childEndedAt: moment('child_ended_at'),
    /** What the child run and its descendants cost, in US dollars; null: unknown. */
    childCost: doublePrecision('child_cost'),
    round: integer('round').notNull(),
    callIndex: smallint('call_index').notNull(),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    /** `approval`, `event`, `time`, `run`; `spawn`: a run was started, and the call did not wait for it. */
    kind: text('kind').notNull(),
    /** `open`, `resolved`, `expired`, `released` by hand, or `abandoned` by the end of its run. */
    status: text('status').notNull(),
    /** The name of the event. */
    event: id('event'),
    childThreadId: id('child_thread_id'),
    childRunId: id('child_run_id'),
    /** Who ended it. */
    endedBy: text('ended_by'),
    /** What a worker has yet to do: `start` or `cancel` the child run, or `ask` whether the wait may end already. */
    task: text('task'),
    /** The request of the child run. */
    request: jsonb('request'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.runId, t.round, t.callIndex, t.kind] }),
    index('_wait_event')
      .on(t.event, t.tenantId)
      .where(sql`status = 'open' and event is not null`),
    index('_wait_approval')
      .on(t.until, t.threadId, t.runId, t.round, t.callIndex)
      .where(sql`status = 'open' and kind = 'approval'`),
    index('_wait_open')
      .on(t.createdAt, t.threadId, t.runId, t.round, t.callIndex)
      .where(sql`status = 'open'`),
    index('_wait_child')
      .on(t.threadId, t.childRunId)
      .where(sql`child_run_id is not null`),
    index('_wait_task')
      .on(t.createdAt)
      .where(sql`task is not null`),
  ],
);

/** The runs that tool calls of other runs started, with their place in the tree. Read it through the view `run_tree`. */
export const childRun = lanefold.table(
  '_child_run',
  {
    endedAt: moment('ended_at'),
    /** When its parent's thread was told of the end. */
    toldAt: moment('told_at'),
    parentRound: integer('parent_round').notNull(),
    parentIndex: smallint('parent_index').notNull(),
    /** 1 for the children of the root. */
    depth: smallint('depth').notNull(),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    parentThreadId: id('parent_thread_id').notNull(),
    parentRunId: id('parent_run_id').notNull(),
    rootThreadId: id('root_thread_id').notNull(),
    rootRunId: id('root_run_id').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.runId] }),
    index('_child_run_root').on(t.rootRunId, t.rootThreadId),
    index('_child_run_untold')
      .on(t.endedAt)
      .where(sql`ended_at is not null and told_at is null`),
  ],
);

/** Events that are kept for waits which begin later, the latest one of each name. */
export const keptEvent = lanefold.table(
  '_kept_event',
  {
    sentAt: moment('sent_at').notNull(),
    keepUntil: moment('keep_until').notNull(),
    tenantId: tenantId(),
    event: id('event').notNull(),
    content: text('content').notNull(),
    sentBy: text('sent_by'),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.event] }), index('_kept_event_until').on(t.keepUntil)],
);
