import { boolean, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/** Settings of a tenant. A tenant needs no row: it exists once it has a thread. */
export const tenant = lanefold.table(
  '_tenant',
  {
    tenantId: id('tenant_id').notNull(),
    /** Limits on all its keys together: see `Limits`. */
    limits: jsonb('limits').notNull().default({}),
    /** Whether threads it creates have tamper evidence. */
    chained: boolean('chained').notNull().default(false),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId] })],
);
