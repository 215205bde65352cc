import { sql } from 'drizzle-orm';
import { bigint, index, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/**
 * The circuit of each model that workers call: what they counted of its calls, and whether they may call it. They belong to the
 * operator, whose keys reach the providers. Read them through the view `circuit`.
 */
export const circuit = lanefold.table(
  '_circuit',
  {
    /** When the newer half of the window began; the counts of the older half are those `before`. */
    halfAt: moment('half_at').notNull(),
    /** When a worker last counted, or anyone changed it. */
    updatedAt: moment('updated_at').notNull(),
    /** Since when calls are held back; null while it is closed. */
    openedAt: moment('opened_at'),
    /** When a worker may probe; null while it is closed, or opened by hand without an end. */
    openUntil: moment('open_until'),
    /** Until when the worker that probes has to answer. */
    probeUntil: moment('probe_until'),
    /** How often it was opened or closed. */
    turns: bigint('turns', { mode: 'number' }).notNull().default(0),
    /** Calls of the newer half of the window that were answered, and those that failed. */
    ok: integer('ok').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    okBefore: integer('ok_before').notNull().default(0),
    failedBefore: integer('failed_before').notNull().default(0),
    /** `provider:model`. */
    model: id('model').notNull(),
    /** `closed`, `open` or `half_open`: a worker probes. */
    state: text('state').notNull().default('closed'),
    /** Tells the probes of workers apart. */
    probe: text('probe'),
    /** Why calls are held back: the class of the failures, or what the operator said. */
    reason: text('reason'),
    /** Who opened it by hand; null: the workers. */
    openedBy: text('opened_by'),
  },
  (t) => [
    primaryKey({ columns: [t.model] }),
    index('_circuit_open')
      .on(t.state)
      .where(sql`state <> 'closed'`),
  ],
);
