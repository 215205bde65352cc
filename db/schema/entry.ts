import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytea, id, lanefold, moment, tenantId } from './columns.ts';

/**
 * The log. Read it through the view `thread_entry`, which reassembles the payload: values that have a column are not
 * stored twice. Eight-byte columns come first, because padding adds up over a hundred million rows.
 */
export const entry = lanefold.table(
  '_entry',
  {
    seq: bigint('seq', { mode: 'number' }).notNull(),
    at: moment('at').notNull(),
    isAnchor: boolean('is_anchor').notNull().default(false),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    kind: id('kind').notNull(),
    contextRef: id('context_ref'),
    role: text('role'),
    opId: id('op_id'),
    runId: id('run_id'),
    /** Null: the same as `run_id`. */
    requestId: id('request_id'),
    payload: jsonb('payload').notNull(),
    refs: jsonb('refs'),
    /** Size of payload and refs, before the database compresses them. */
    bytes: integer('bytes'),
    /** The chain: hash of this entry and the previous hash. Null: the thread has no chain. */
    hash: bytea('hash'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.seq] }),
    index('_entry_lane')
      .on(t.threadId, t.contextRef, t.seq)
      .where(sql`kind = 'ai_message'`),
    // Anchors and configuration changes, which the fold searches backwards. Few rows: a message is in one index only.
    index('_entry_control')
      .on(t.threadId, t.contextRef, t.seq)
      .where(sql`kind in ('ai_context_operation', 'ai_config_change')`),
    // Entries that set a prompt: a lane may have a thousand large anchors that inherit theirs.
    index('_entry_prompt')
      .on(t.threadId, t.contextRef, t.seq)
      .where(
        sql`kind = 'ai_config_change' and payload ->> 'field' = 'system_prompt' or is_anchor and payload -> 'operation' -> 'result_context' ? 'system_prompt'`,
      ),
    // State changes, which thread_state_at folds: few of the entries of a long thread.
    index('_entry_state')
      .on(t.threadId, t.seq)
      .where(sql`kind = 'ai_state_change'`),
    // Feedback: of a run, and the newest of all threads. Few rows.
    index('_entry_feedback')
      .on(t.threadId, t.seq)
      .where(sql`kind = 'feedback'`),
    index('_entry_feedback_at')
      .on(t.at, t.threadId, t.seq)
      .where(sql`kind = 'feedback'`),
    // Words of user messages, to search for threads: one message per run. Adding each word to the index at once costs
    // as much as the rest of the claim, so words are collected in a list first. The list is short, because one run
    // waits while it is merged: 10 ms at most.
    index('_entry_words')
      .using('gin', sql`to_tsvector('simple', left(payload ->> 'content', 2000))`)
      .with({ fastupdate: true, gin_pending_list_limit: 512 })
      .where(sql`kind = 'ai_message' and role = 'user'`),
  ],
);

/** Receipts of appends with an idempotency key: a repeated key returns the first receipt. */
export const appendReceipt = lanefold.table(
  '_append_receipt',
  {
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    opId: id('op_id').notNull(),
    firstSeq: bigint('first_seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.opId] }), index('_append_receipt_seq').on(t.threadId, t.firstSeq)],
);
