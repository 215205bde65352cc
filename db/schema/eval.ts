import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
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
    /** Null for an imported case: its thread has the messages of the call, and no run. */
    runId: id('run_id'),
    /** Of a run, its first call. Null for an imported case. */
    llmCallId: id('llm_call_id'),
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

/** Evals: a dataset under some variants. A change of one of its items locks its row first. */
export const evaluation = lanefold.table(
  '_eval',
  {
    createdAt: moment('created_at').notNull(),
    finishedAt: moment('finished_at'),
    /** For all its runs, in millionths of a US dollar. */
    maxCostMicros: bigint('max_cost_micros', { mode: 'number' }),
    /** How many of its items may run at once. */
    concurrency: integer('concurrency').notNull(),
    tenantId: tenantId(),
    id: id('id').notNull(),
    dataset: id('dataset').notNull(),
    /** The private queue whose worker starts its runs and scores the answers; null: any worker of a shared queue does. */
    queuePrefix: text('queue_prefix'),
    /** `running`, `completed` or `cancelled`. */
    status: text('status').notNull(),
    /** Variants, repeats, tools, limits. */
    spec: jsonb('spec').notNull(),
    createdBy: text('created_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id] }),
    index('_eval_created').on(t.tenantId, t.createdAt, t.id),
    index('_eval_running')
      .on(t.createdAt)
      .where(sql`status = 'running'`),
  ],
);

/** The items of evals: a case under a variant, once. Workers start their runs and score the answers. */
export const evalItem = lanefold.table(
  '_eval_item',
  {
    no: integer('no').notNull(),
    repeat: integer('repeat').notNull(),
    /** Tells the attempts of workers apart. */
    takenAt: moment('taken_at'),
    /** Until when the worker that took it last has it, unless it renews it. */
    heldUntil: moment('held_until'),
    settledAt: moment('settled_at'),
    durationMs: bigint('duration_ms', { mode: 'number' }),
    inputTokens: bigint('input_tokens', { mode: 'number' }),
    outputTokens: bigint('output_tokens', { mode: 'number' }),
    /** How many of both are estimates, because the provider did not count them. */
    estimatedTokens: bigint('estimated_tokens', { mode: 'number' }),
    costMicros: bigint('cost_micros', { mode: 'number' }),
    /** What its run is expected to cost, or may cost by now: counts until its cost is known. */
    reservedMicros: bigint('reserved_micros', { mode: 'number' }),
    /** Its answer is that of an earlier eval. */
    reused: boolean('reused').notNull().default(false),
    tenantId: tenantId(),
    evalId: id('eval_id').notNull(),
    caseId: id('case_id').notNull(),
    /** The thread of the case, which may be removed before it is erased. */
    sourceThreadId: id('source_thread_id').notNull(),
    variant: text('variant').notNull(),
    /** Only workers with this agent take it. */
    agent: text('agent').notNull(),
    /** `waiting`, `running`, `scoring`, `done`, `failed`, `skipped` or `erased`. */
    status: text('status').notNull(),
    threadId: id('thread_id'),
    runId: id('run_id'),
    /** The run of the judge. */
    judgeThreadId: id('judge_thread_id'),
    judgeRunId: id('judge_run_id'),
    /** Hash of everything that an answer depends on. */
    answerKey: text('answer_key'),
    answer: text('answer'),
    /** The limit that ended its run before an answer. */
    endedBy: text('ended_by'),
    diverged: text('diverged'),
    error: text('error'),
    tags: text('tags').array().notNull(),
    scores: jsonb('scores').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.evalId, t.no] }),
    index('_eval_item_open')
      .on(t.evalId, t.no)
      .where(sql`status in ('waiting', 'running', 'scoring')`),
    index('_eval_item_answer')
      .on(t.tenantId, t.answerKey)
      .where(sql`answer_key is not null`),
    index('_eval_item_source').on(t.sourceThreadId),
  ],
);

/** The threads that evals have made for their runs and judges, until they are erased. They outlive their items. */
export const evalThread = lanefold.table(
  '_eval_thread',
  {
    no: integer('no').notNull(),
    /** Null: it is to stay. Workers erase it from then on. */
    eraseAt: moment('erase_at'),
    tenantId: tenantId(),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    evalId: id('eval_id').notNull(),
  },
  (t) => [
    // the thread is not first: a distributed database would distribute the table, which is joined with those of evals
    primaryKey({ columns: [t.tenantId, t.threadId] }),
    index('_eval_thread_item').on(t.evalId, t.no),
    index('_eval_thread_erase')
      .on(t.eraseAt)
      .where(sql`erase_at is not null`),
  ],
);
