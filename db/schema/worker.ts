import { boolean, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/**
 * The workers, each from its start to some time after its end. Read it through the view `worker`. No index but the key: what a
 * heartbeat changes is in none, so a heartbeat rewrites the row in its page.
 */
export const worker = lanefold.table(
  '_worker',
  {
    startedAt: moment('started_at').notNull(),
    heartbeatAt: moment('heartbeat_at').notNull(),
    /** When the worker ended on its own; null: it runs, or died. */
    stoppedAt: moment('stopped_at'),
    /** The worker counts as dead once it has been silent for this long. */
    deadAfterMs: integer('dead_after_ms').notNull(),
    pid: integer('pid').notNull(),
    concurrency: integer('concurrency').notNull(),
    runsHeld: integer('runs_held').notNull(),
    /** It takes no more runs. */
    draining: boolean('draining').notNull(),
    id: id('id').notNull(),
    host: text('host').notNull(),
    /** Of the package. */
    version: text('version').notNull(),
    /** First part of the names of the queues it takes jobs from. */
    queuePrefix: text('queue_prefix').notNull(),
    agents: text('agents').array().notNull(),
    strategies: text('strategies').array().notNull(),
  },
  (t) => [primaryKey({ columns: [t.id] })],
);
