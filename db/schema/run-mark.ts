import { bigint, index, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/**
 * What is notable about a run, by kind: how often, and where the first is. `run_marks` defines marks; `_note_marks` stores
 * them in the commit in which they arise, so that runs are found by their marks. Clean runs have none.
 */
export const runMark = lanefold.table(
  '_run_mark',
  {
    /** When the run was accepted. */
    createdAt: moment('created_at').notNull(),
    seq: bigint('seq', { mode: 'number' }),
    count: integer('count').notNull(),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    kind: id('kind').notNull(),
    agent: text('agent').notNull(),
    agentVersion: id('agent_version'),
    llmCallId: text('llm_call_id'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.runId, t.kind] }),
    index('_run_mark_found').on(t.kind, t.createdAt, t.threadId, t.runId),
  ],
);
