import { fromPostgres } from './errors.ts';
import { ScopedQuery, type DatabaseScope, type StatementConfig } from './scoped-query.ts';

/** The part of a connection we use: a `pg.Pool`, a client inside a transaction or a test double will do. */
export interface Queryable {
  query(query: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Runs a statement, for one tenant if `scope` is given. Rejects with a `LanefoldError`. */
export async function runQuery<Row>(
  on: Queryable,
  query: StatementConfig & { values: unknown[] },
  scope?: DatabaseScope,
): Promise<Row[]> {
  try {
    return (await on.query(scope ? new ScopedQuery(query, scope) : query)).rows as Row[];
  } catch (error) {
    throw fromPostgres(error, threadOf(query));
  }
}

/** The thread of a call to one of our functions, whose first argument it is. */
const threadOf = ({ text, values }: { text: string; values: unknown[] }): string | undefined =>
  /^(with act as materialized \()?select ([\w, ]+ from )?lanefold\.\w+\(\$1\b/.test(text) &&
  typeof values[0] === 'string'
    ? values[0]
    : undefined;
