import { customType, pgSchema } from 'drizzle-orm/pg-core';

export const lanefold = pgSchema('lanefold');

/** An id. Collated bytewise, so that comparisons and indexes do not depend on the locale of the database. */
export const id = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** A timestamptz with microseconds, read as a Date. */
export const moment = customType<{ data: Date }>({ dataType: () => 'timestamptz' });

/** Spans of time without overlaps, as PostgreSQL writes them. */
export const spans = customType<{ data: string }>({ dataType: () => 'tstzmultirange' });

/**
 * The tenant of the row's thread, on every row, because policies compare a column. Functions write it;
 * `default` is the tenant of a thread created without one.
 */
export const tenantId = () => id('tenant_id').notNull().default('default');
