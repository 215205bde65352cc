import { sql } from 'drizzle-orm';
import { boolean, index, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment, spans } from './columns.ts';

/**
 * The workers, each from its start until some time after its end. Read it through the view `worker`. A
 * heartbeat changes no indexed column, so it rewrites the row within its page.
 */
export const worker = lanefold.table(
  '_worker',
  {
    startedAt: moment('started_at').notNull(),
    heartbeatAt: moment('heartbeat_at').notNull(),
    /** When the worker shut down cleanly. Null: it is running, or it crashed. */
    stoppedAt: moment('stopped_at'),
    /** The worker counts as dead once it has been silent for this long. */
    deadAfterMs: integer('dead_after_ms').notNull(),
    pid: integer('pid').notNull(),
    concurrency: integer('concurrency').notNull(),
    runsHeld: integer('runs_held').notNull(),
    /** It claims no more runs. */
    draining: boolean('draining').notNull(),
    id: id('id').notNull(),
    host: text('host').notNull(),
    /** Version of the package. */
    version: text('version').notNull(),
    /** First part of the names of the queues it takes jobs from. */
    queuePrefix: text('queue_prefix').notNull(),
    agents: text('agents').array().notNull(),
    strategies: text('strategies').array().notNull(),
    /** The versions of agents that it has, each as `agent@label` and as `agent@id`. */
    versions: text('versions').array().notNull(),
    /** Its tools: those of an agent as `agent+tool`, those that belong to no agent as `+tool`. */
    tools: text('tools').array().notNull().default([]),
    /** The times without a heartbeat of any worker that ended with one of its heartbeats; see `report_worker`. */
    silences: spans('silences').notNull().default('{}'),
    /** The times in which its event loop served nothing because a call did not yield; see `report_worker`. */
    busy: spans('busy').notNull().default('{}'),
    /** Those in which the process or its machine stood still. */
    frozen: spans('frozen').notNull().default('{}'),
  },
  (t) => [
    primaryKey({ columns: [t.id] }),
    index('_worker_running')
      .on(t.queuePrefix)
      .where(sql`${t.stoppedAt} is null`),
  ],
);
