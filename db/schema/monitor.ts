import { sql } from 'drizzle-orm';
import { bigint, doublePrecision, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, tenantId } from './columns.ts';

/** Monitors: scorers of a share of the runs that have ended. A worker takes the row of a monitor before it scores for it. */
export const monitor = lanefold.table(
  '_monitor',
  {
    /** The runs that ended up to then, and at that moment up to `read_thread_id` and `read_run_id`, are scored. */
    readTo: moment('read_to').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** Tells the attempts of workers apart. */
    takenAt: moment('taken_at'),
    /** Until when the worker that took it last has it, unless it renews it. */
    heldUntil: moment('held_until'),
    /** Since when its scores are low. */
    lowSince: moment('low_since'),
    /** How many runs have a score since it was set. */
    scored: bigint('scored', { mode: 'number' }).notNull().default(0),
    /** `scored` when its scores were last found to be low, or no longer low. */
    turnedAt: bigint('turned_at', { mode: 'number' }).notNull().default(0),
    /** The share of the runs that it scores, above 0 and up to 1. */
    sample: doublePrecision('sample').notNull(),
    tenantId: tenantId(),
    name: id('name').notNull(),
    /** The private queue whose runs its worker scores; null: any worker of a shared queue scores those of all queues. */
    queuePrefix: text('queue_prefix'),
    readThreadId: id('read_thread_id').notNull().default(''),
    readRunId: id('read_run_id').notNull().default(''),
    /** The agents whose runs it scores; empty: all. */
    agents: text('agents').array().notNull(),
    /** Names of scorers of the program. */
    scorers: text('scorers').array().notNull(),
    rubric: text('rubric'),
    /** {agent, model?} */
    judge: jsonb('judge'),
    /** {below, of} */
    alert: jsonb('alert'),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.name] })],
);

/** What monitors say of runs. */
export const runScore = lanefold.table(
  '_run_score',
  {
    /** When the run ended. */
    endedAt: moment('ended_at').notNull(),
    scoredAt: moment('scored_at').notNull(),
    /** The mean of the scores that are not null. */
    score: doublePrecision('score'),
    tenantId: tenantId(),
    monitor: id('monitor').notNull(),
    threadId: id('thread_id').notNull(),
    runId: id('run_id').notNull(),
    agent: text('agent').notNull(),
    agentVersion: text('agent_version'),
    /** `waiting` for the judge, or `done`. */
    status: text('status').notNull(),
    /** The run of the judge. */
    judgeThreadId: id('judge_thread_id'),
    judgeRunId: id('judge_run_id'),
    /** [{scorer, version, score, reason, error}] */
    scores: jsonb('scores').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.monitor, t.threadId, t.runId] }),
    index('_run_score_time').on(t.tenantId, t.monitor, t.scoredAt, t.threadId, t.runId),
    index('_run_score_thread').on(t.threadId),
    index('_run_score_old')
      .on(t.scoredAt)
      .where(sql`status = 'done'`),
    index('_run_score_waiting')
      .on(t.tenantId, t.monitor)
      .where(sql`status = 'waiting'`),
  ],
);
