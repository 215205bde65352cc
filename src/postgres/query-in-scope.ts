import pg from 'pg';
import { queryInTransaction } from './query-in-transaction.ts';
import { scopeStatement, type Scope, type StatementConfig } from './scoped-query.ts';

/** How long a statement may take that looks at many threads. */
const longMs = 120_000;

/** Runs a statement in a transaction that gives it two minutes, in place of the timeout of its connection. */
export function queryLong<Row>(
  pool: pg.Pool,
  query: StatementConfig & { values: unknown[] },
  scope: Scope | undefined,
  distributed: boolean,
): Promise<Row[]> {
  const long = { text: `set local statement_timeout = ${longMs - 1_000}`, values: [] };
  return queryInTransaction(pool, [long, ...scopeOf(scope, distributed)], { ...query, query_timeout: longMs });
}

/** Runs a statement for a tenant on a database whose other nodes have to know the tenant. */
export const queryOnNodes = <Row>(
  pool: pg.Pool,
  query: StatementConfig & { values: unknown[] },
  scope: Scope,
): Promise<Row[]> => queryInTransaction(pool, scopeOf(scope, true), query);

function scopeOf(scope: Scope | undefined, distributed: boolean): StatementConfig[] {
  if (!scope) return [];
  if (!distributed) return [scopeStatement(scope)];
  // of all that may set something, only SET LOCAL reaches the nodes, and only by itself
  const tenant = pg.escapeLiteral(scope.tenant);
  const texts = ["citus.propagate_set_commands = 'local'", `lanefold.tenant = ${tenant}`];
  if (scope.role !== undefined) texts.push(`role = ${pg.escapeIdentifier(scope.role)}`);
  return texts.map((setting) => ({ text: `set local ${setting}` }));
}
