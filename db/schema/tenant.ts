import { jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { id, lanefold, moment } from './columns.ts';

/** What is set for a tenant. A tenant needs no row: it is there with its first thread. */
export const tenant = lanefold.table(
  '_tenant',
  {
    tenantId: id('tenant_id').notNull(),
    /** What all its keys together may do: see `Limits`. */
    limits: jsonb('limits').notNull().default({}),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId] })],
);
