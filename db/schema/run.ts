import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytea, id, lanefold, moment, tenantId } from './columns.ts';

/** One request executed by a strategy; the outbox of the queue. Read it through the view `run`. */
export const run = lanefold.table(
  '_run',
  {
    lease: bigint('lease', { mode: 'number' }).notNull().default(0),
    leaseUntil: moment('lease_until'),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    /** When the run was last given to the queue: the sweep leaves younger ones alone. */
    enqueuedAt: moment('enqueued_at'),
    /**
     * Since when the run could continue if a worker took it: it was accepted or promoted, its `start_at` came, what it
     * waited for ended, or its worker left it after progress. No new job, limit or failed claim renews it. Null while
     * it waits for the run before it.
     */
    readyAt: moment('ready_at'),
    /** While it waits for a worker that holds no other run: when the worker that lost it was last seen. */
    lostAt: moment('lost_at'),
    sealedAt: moment('sealed_at'),
    cancelRequestedAt: moment('cancel_requested_at'),
    /** Set only while the run waits for approval: when it stops waiting. */
    suspendedUntil: moment('suspended_until'),
    /** While the job is in the queue of its agent: since when no worker with that agent has been seen. */
    agentUnknownSince: moment('agent_unknown_since'),
    /** The earliest time a worker may start the run. Null: at once. */
    startAt: moment('start_at'),
    /** The latest time a worker may start the run. Null: no limit. */
    expiresAt: moment('expires_at'),
    /** When events, state and result were emptied, long after the end. */
    traceDroppedAt: moment('trace_dropped_at'),
    /** `seq` of the run's user message, and of the assistant message that is its result. */
    userSeq: bigint('user_seq', { mode: 'number' }),
    resultSeq: bigint('result_seq', { mode: 'number' }),
    /** Range of the run's events within the thread's: few others lie between, because one run is active at a time. */
    firstEventSeq: bigint('first_event_seq', { mode: 'number' }),
    /** Set when the run ends. */
    lastEventSeq: bigint('last_event_seq', { mode: 'number' }),
    /** The worker's lease duration: no lease ends later than this from now. */
    leaseMs: integer('lease_ms'),
    enqueueNo: integer('enqueue_no').notNull().default(0),
    step: integer('step').notNull().default(0),
    iteration: integer('iteration').notNull().default(0),
    eventCount: integer('event_count').notNull().default(0),
    queuedInputs: integer('queued_inputs').notNull().default(0),
    /** Claims since the last committed step: a poisoned run crashes worker after worker. */
    claimsWithoutProgress: smallint('claims_without_progress').notNull().default(0),
    /** Of those, the ones that count against the run; see `_judge_claims`. Not valid while there are none without progress. */
    claimsAlone: smallint('claims_alone').notNull().default(0),
    queueShard: smallint('queue_shard').notNull().default(0),
    traceTruncated: boolean('trace_truncated').notNull().default(false),
    /** It has marks, which are looked at again when it ends: by then, more of them have a place. */
    notable: boolean('notable').notNull().default(false),
    /** Set when the run ends: whether it has an answer. */
    answered: boolean('answered'),
    /** True in `queued`, `running`, `suspended`. Separate from `status`, so that starting a run updates no index. */
    active: boolean('active').notNull(),
    /** It interrupted the active run, and goes ahead of every other waiting run. */
    interrupts: boolean('interrupts').notNull().default(false),
    status: text('status').notNull(),
    /** First part of the name of the queue the run was given to; the shard is the rest. */
    queuePrefix: text('queue_prefix').notNull().default('lf'),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    id: id('id').notNull(),
    /** The key that started it, as in the audit. Null: a caller without limits. */
    caller: id('caller'),
    /** Null means: the run's own id. */
    requestId: id('request_id'),
    requestHash: bytea('request_hash').notNull(),
    agent: text('agent').notNull(),
    /** The version of the agent that the worker which claimed it last has; see `_agent_version`. */
    agentVersion: id('agent_version'),
    /** While the job is in the queue of its agent: the strategy that workers lack. Null: they lack the agent. */
    unknownStrategy: text('unknown_strategy'),
    /** The version of its agent that the worker which moved it lacks: a label or an id. */
    unknownVersion: text('unknown_version'),
    /**
     * The tools that workers which moved it lack: `tool` for one of its agent, `+tool` for one that the request or the thread
     * names, which may also be a tool of no agent.
     */
    unknownTools: text('unknown_tools').array(),
    strategy: text('strategy').notNull(),
    model: text('model').notNull(),
    contextRef: id('context_ref').notNull(),
    terminationReason: text('termination_reason'),
    /** Why the model stopped writing the answer with which the run ended. Null: it ended without one, or none was given. */
    finishReason: text('finish_reason'),
    workerId: id('worker_id'),
    /** The user message until the claim appends it. */
    input: jsonb('input'),
    options: jsonb('options'),
    usage: jsonb('usage'),
    /**
     * The part of `usage` spent on other models, by model: {calls, …}. Usually null: a request transformer chooses
     * them.
     */
    otherUsage: jsonb('other_usage'),
    result: jsonb('result'),
    error: jsonb('error'),
    state: jsonb('state'),
    lastCommit: jsonb('last_commit'),
    cancelReason: text('cancel_reason'),
    /** While it is queued: the limit it waits for, {limit, since, owner?, key?, until?}, or the model, {circuit, since, until?}. */
    limitedBy: jsonb('limited_by'),
    /** W3C `traceparent` of the caller that enqueued the run, for the traces of its workers. */
    traceparent: text('traceparent'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.id] }),
    uniqueIndex('_run_request')
      .on(t.threadId, t.requestId)
      .where(sql`request_id is not null`),
    uniqueIndex('_run_active')
      .on(t.threadId)
      .where(sql`active`),
    // Runs that the sweep checks: queued and running ones, without those that wait for approval. A run enters the index
    // with its insert and leaves it with its end, 66 bytes of WAL (2 %); claims and steps change none of its columns.
    index('_run_due')
      .on(t.enqueuedAt)
      .where(sql`active and suspended_until is null`),
    // Costs only the runs that wait for approval.
    index('_run_suspended')
      .on(t.suspendedUntil)
      .where(sql`suspended_until is not null`),
    // Costs only the runs with a time to live: for other runs, a claim changes no column of its predicate.
    index('_run_expiring')
      .on(t.expiresAt)
      .where(sql`expires_at is not null and finished_at is null`),
    // For lists over threads: 120 bytes of WAL for a run.
    index('_run_created').on(t.createdAt, t.threadId, t.id),
    // For lists of one agent: about as much again. A handoff moves the run in it.
    index('_run_agent').on(t.agent, t.createdAt, t.threadId, t.id),
    // Costs only the runs that fail. None of its columns changes before the end of a run.
    index('_run_failed')
      .on(t.createdAt, t.threadId, t.id)
      .where(sql`error is not null and termination_reason <> 'cancelled'`),
    // Runs that count towards the limits of keys and tenants. They cost only those runs.
    index('_run_of_caller')
      .on(t.caller)
      .where(sql`finished_at is null and caller is not null`),
    index('_run_of_tenant')
      .on(t.tenantId)
      .where(sql`finished_at is null and tenant_id <> 'default'`),
    // Costs only the runs that wait for a limit.
    index('_run_delayed')
      .on(t.queuePrefix)
      .where(sql`limited_by is not null`),
    index('_run_waiting')
      .on(t.threadId, t.createdAt)
      .where(sql`not active and finished_at is null`),
    // Ended runs whose traces retention has not dropped yet. A run enters it once, with its terminal commit: 60 bytes
    // of WAL. A BRIN would cost less to write, but every check would read all pages of the past again.
    index('_run_trace')
      .on(t.finishedAt)
      .where(sql`finished_at is not null and trace_dropped_at is null`),
  ],
);

/** The ledger: intent, start and outcome of every tool call. Read it through the view `run_tool_call`. */
export const toolCall = lanefold.table(
  '_tool_call',
  {
    /** `seq` of the assistant message with the call, and of the tool message with its result. */
    callSeq: bigint('call_seq', { mode: 'number' }).notNull(),
    resultSeq: bigint('result_seq', { mode: 'number' }),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    round: integer('round').notNull(),
    durationMs: integer('duration_ms'),
    callIndex: smallint('call_index').notNull(),
    attempts: smallint('attempts').notNull().default(0),
    status: text('status').notNull(),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    toolCallId: text('tool_call_id').notNull(),
    name: text('name').notNull(),
    /** The outcome until its tool message is in the log. */
    outcome: jsonb('outcome'),
    /** For a call that needs human approval: {requested_at, decision?: approved|denied, by?, reason?, decided_at?}. */
    approval: jsonb('approval'),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.runId, t.round, t.callIndex] })],
);

/**
 * Results of a strategy that asks the model additional questions: the answers, and the tree or graph it built from
 * them. Read it through the view `run_node`.
 */
export const runNode = lanefold.table(
  '_run_node',
  {
    score: doublePrecision('score'),
    node: integer('node').notNull(),
    parent: integer('parent'),
    depth: integer('depth'),
    /** For an answer: the number of its model call. Null: the strategy derived the node from answers. */
    callNo: integer('call_no'),
    /** For an answer: when it arrived, relative to the start of the run. */
    elapsedMs: bigint('elapsed_ms', { mode: 'number' }),
    tenantId: tenantId(),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    kind: text('kind').notNull(),
    status: text('status').notNull(),
    content: text('content'),
    usage: jsonb('usage'),
    /** For an answer: {rounds: its tool rounds}. For other nodes: notes of the strategy. */
    data: jsonb('data'),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.runId, t.node] })],
);

/** Steer and inject input with its receipt. */
export const pendingInput = lanefold.table(
  'pending_input',
  {
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    ordinal: integer('ordinal').notNull(),
    id: id('id').notNull(),
    kind: text('kind').notNull(),
    /** Who sent it. */
    by: text('by').notNull(),
    content: text('content').notNull(),
    /** The content if it is more than text, such as an image; `content` then has its text. */
    parts: jsonb('parts'),
    refs: jsonb('refs'),
    status: text('status').notNull(),
    entrySeq: bigint('entry_seq', { mode: 'number' }),
    createdAt: moment('created_at').notNull(),
    settledAt: moment('settled_at'),
  },
  (t) => [
    primaryKey({ columns: [t.threadId, t.runId, t.ordinal] }),
    uniqueIndex('pending_input_id').on(t.threadId, t.id),
  ],
);

/** The trace, one row per commit: all events of a step are stored together. Read it through the view `run_event`. */
export const eventBatch = lanefold.table(
  '_event_batch',
  {
    eventSeq: bigint('event_seq', { mode: 'number' }).notNull(),
    at: moment('at').notNull(),
    /** `seq` of the first entry of the same commit: an event names its entry by the offset `e`. */
    entrySeq: bigint('entry_seq', { mode: 'number' }).notNull(),
    /** Number of the first event within the run. */
    seq: integer('seq').notNull(),
    threadId: id('thread_id').notNull(),
    tenantId: tenantId(),
    runId: id('run_id').notNull(),
    /**
     * [{k: kind, i: iteration, d?: data, e?: entry offset, c?: call number, m?: messages, r?: reason}], packed: see
     * `_packed_events`.
     */
    events: text('events').notNull(),
  },
  (t) => [primaryKey({ columns: [t.threadId, t.eventSeq] })],
);
