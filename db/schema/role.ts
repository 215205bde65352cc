import { primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold } from './columns.ts';

/** Duties that grant_role gave to roles of the server, so that a migration can grant them rights on new objects. */
export const role = lanefold.table(
  '_role',
  {
    name: id('name').notNull(),
    /** `worker`, `api` or `reader`. */
    duty: text('duty').notNull(),
    /** For a reader: its tenant, `*` for all. */
    tenant: id('tenant'),
  },
  (t) => [primaryKey({ columns: [t.name] })],
);
