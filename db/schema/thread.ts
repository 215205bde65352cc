import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** One conversation. Every writer locks its row first. */
export const thread = lanefold.table(
  'thread',
  {
    id: id('id').primaryKey(),
    tenantId: tenantId(),
    rev: bigint('rev', { mode: 'number' }).notNull().default(0),
    /** Number of events; `rev` is the number of entries. */
    eventRev: bigint('event_rev', { mode: 'number' }).notNull().default(0),
    activeContextRef: id('active_context_ref').notNull().default('default'),
    /** The one run in `queued`, `running` or `suspended`. */
    activeRunId: id('active_run_id'),
    waitingRuns: integer('waiting_runs').notNull().default(0),
    pendingOpId: id('pending_op_id'),
    /** The branch that becomes the active lane when the active run ends, after the pending operation. */
    pendingBranch: id('pending_branch'),
    /** Configuration changes accepted during a run: [{context_ref, changes}]. They are applied when it ends. */
    pendingConfig: jsonb('pending_config'),
    /** Whether tools or tool context were ever configured; if not, claims skip reading the configuration. */
    configured: boolean('configured').notNull().default(false),
    /** Whether an anchor or a prompt may be newer than the last answer of its lane: the next end of a run looks for marks. */
    altered: boolean('altered').notNull().default(false),
    /** Whether its entries have hashes: see `_seal_entry`. */
    chained: boolean('chained').notNull().default(false),
    metadata: jsonb('metadata').notNull().default({}),
    state: jsonb('state').notNull().default({}),
    parentThreadId: id('parent_thread_id'),
    forkSeq: bigint('fork_seq', { mode: 'number' }),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    erasedAt: moment('erased_at'),
    /** The version of each agent that a rollout chose for it: {agent: label}. */
    versions: jsonb('versions'),
  },
  // For lists. Later writes change none of their columns, so they only cost the creation of a thread.
  (t) => [
    index('thread_created').on(t.createdAt, t.id),
    index('thread_tenant').on(t.tenantId, t.createdAt, t.id),
    index('thread_metadata').using('gin', sql`metadata jsonb_path_ops`),
  ],
);

/**
 * The names of a thread's lanes and where branches begin, so that neither needs a look at the log, whose anchors are large.
 * Everything else about a lane is derived from the log by the view `lane`.
 */
export const lane = lanefold.table(
  '_lane',
  {
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    contextRef: id('context_ref').notNull(),
    /** Of a branch: the lane that it left, … */
    parentRef: id('parent_ref'),
    /** … the first lane of its tree, … */
    rootRef: id('root_ref'),
    /** … its anchor, … */
    branchSeq: bigint('branch_seq', { mode: 'number' }),
    /** … the last entry whose context it has; -1: none, … */
    afterSeq: bigint('after_seq', { mode: 'number' }),
    /** … and the message that its first one follows; null: none. */
    parentSeq: bigint('parent_seq', { mode: 'number' }),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.contextRef] })],
);

/** Every accepted context operation, kept forever to make `op_id` idempotent. */
export const contextOp = lanefold.table(
  'context_op',
  {
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    opId: id('op_id').notNull(),
    contextRef: id('context_ref').notNull(),
    type: text('type').notNull(),
    reason: text('reason').notNull(),
    status: text('status').notNull(),
    hash: text('hash').notNull(),
    /** The operation while it is pending; afterwards it is in the entry. */
    operation: jsonb('operation'),
    entrySeq: bigint('entry_seq', { mode: 'number' }),
    createdAt: moment('created_at').notNull(),
    settledAt: moment('settled_at'),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.opId] })],
);
