import { primaryKey, text } from 'drizzle-orm/pg-core';
import { id, lanefold } from './columns.ts';

/** What grant_role has given to roles of the server, so that a migration can give them what it adds. */
export const role = lanefold.table(
  '_role',
  {
    name: id('name').notNull(),
    /** `worker`, `api` or `reader`. */
    duty: text('duty').notNull(),
    /** Of a reader: its tenant, `*` for all. */
    tenant: id('tenant'),
  },
  (t) => [primaryKey({ columns: [t.name] })],
);
