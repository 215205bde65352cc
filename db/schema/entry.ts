import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/**
 * The log. Read it through the view `thread_entry`, which composes the whole payload; here what is a column is stored
 * once. Eight-byte columns first: the order of columns is the padding of a hundred million rows.
 */
export const entry = lanefold.table(
  '_entry',
  {
    seq: bigint('seq', { mode: 'number' }).notNull(),
    at: moment('at').notNull(),
    isAnchor: boolean('is_anchor').notNull().default(false),
    threadId: id('thread_id').notNull(),
    kind: id('kind').notNull(),
    contextRef: id('context_ref'),
    role: text('role'),
    opId: id('op_id'),
    runId: id('run_id'),
    /** Null means: the same as `run_id`. */
    requestId: id('request_id'),
    payload: jsonb('payload').notNull(),
    refs: jsonb('refs'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.seq] }),
    index('_entry_lane')
      .on(t.threadId, t.contextRef, t.seq)
      .where(sql`kind = 'ai_message'`),
    // What the fold looks for backwards: anchors and prompt changes. Few rows, so messages pay for one index only.
    index('_entry_control')
      .on(t.threadId, t.contextRef, t.seq)
      .where(sql`kind in ('ai_context_operation', 'ai_config_change')`),
  ],
);

/** The memory of appends made with a key: the same key again answers as the first time. */
export const appendReceipt = lanefold.table(
  '_append_receipt',
  {
    threadId: id('thread_id').notNull(),
    opId: id('op_id').notNull(),
    firstSeq: bigint('first_seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.opId] })],
);
