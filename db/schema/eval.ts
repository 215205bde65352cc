import { bigint, index, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** Cases of datasets: a past run or model call, by reference, with what should have been answered. */
export const evalCase = lanefold.table(
  '_case',
  {
    /** The last entry of the context before the question of a run, or before the answer of a call; -1: none. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** When its thread was erased; what it quoted of the thread went with it. */
    erasedAt: moment('erased_at'),
    tenantId: tenantId(),
    id: id('id').notNull(),
    dataset: id('dataset').notNull(),
    /** `run` or `call`. */
    kind: text('kind').notNull(),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    /** Of a run, its first call. */
    llmCallId: id('llm_call_id').notNull(),
    contextRef: id('context_ref').notNull(),
    /** Hex SHA-256 of the messages of that call. */
    contextHash: text('context_hash').notNull(),
    agent: text('agent').notNull(),
    model: text('model').notNull(),
    tags: text('tags').array().notNull(),
    split: text('split'),
    expected: jsonb('expected'),
    note: text('note'),
    keptBy: text('kept_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id] }),
    uniqueIndex('_case_source').on(t.tenantId, t.dataset, t.threadId, t.llmCallId, t.kind),
    index('_case_thread').on(t.threadId),
    index('_case_created').on(t.tenantId, t.dataset, t.createdAt, t.id),
  ],
);
