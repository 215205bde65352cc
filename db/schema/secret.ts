import { primaryKey } from 'drizzle-orm/pg-core';
import { bytea, id, lanefold } from './columns.ts';

/** Secrets of this installation, made by the migration. No role reads them: `name_key` derives keys from them. */
export const secret = lanefold.table(
  '_secret',
  {
    /** `names`: the ids that are derived from the names of requests. */
    name: id('name').notNull(),
    value: bytea('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.name] })],
);
