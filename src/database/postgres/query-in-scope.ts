import pg from 'pg';
import type { Connections, NodeGuard } from './node-guard.ts';
import { runQuery } from './run-query.ts';
import {
  atOnce,
  scopeSettings,
  setStatement,
  type DatabaseScope,
  type Setting,
  type StatementConfig,
} from './query-with-settings.ts';
import { fromPostgres, isConnectionError } from './errors.ts';

/** Time limit of a statement that reads many threads. */
export const longMs = 120_000;

const longSettings: Setting[] = [['statement_timeout', String(longMs - 1_000)], ...atOnce];

/** Runs a statement with a limit of two minutes, in place of its connection's timeout. */
export function queryLong<Row>(
  pool: Connections,
  query: StatementConfig & { values: unknown[] },
  scope: DatabaseScope | undefined,
  distributed: boolean,
): Promise<Row[]> {
  const long = { ...query, query_timeout: longMs };
  if (!distributed) return runQuery(pool, long, [...longSettings, ...scopeSettings(scope)]);
  const settings = longSettings.map(([name, value]) => ({ text: `set local ${name} = ${value}` }));
  return queryInTransaction(pool, [...settings, ...scopeStatements(scope, true)], long);
}

/** The form of every write to a thread: a call that returns one value. */
const oneCall = /^(select \w+\.)(\w+)\([$\d, ]+\) as (\w+)$/;

/**
 * Runs a statement for a tenant on a database whose other nodes must know the tenant. A call of a function that nodes carry
 * out takes the tenant to the node of its thread; any other statement runs in a transaction that sets the tenant first, in
 * which calls are not delegated to nodes.
 *
 * @param nodes know the functions that nodes carry out
 */
export function queryOnNodes<Row>(
  pool: Connections,
  query: StatementConfig & { values: unknown[] },
  scope: DatabaseScope,
  nodes: NodeGuard | undefined,
): Promise<Row[]> {
  const [, schema, called, as] = oneCall.exec(query.text) ?? [];
  if (called === undefined || !nodes?.carriesOut(called))
    return queryInTransaction(pool, scopeStatements(scope, true), query);
  const [threadId, ...args] = query.values;
  const values = [threadId, scope.tenant, scope.role ?? null, called, args.map(toText)];
  const text = `${schema}_for_tenant($1, $2, $3, $4, $5) as ${as}`;
  return runQuery(pool, { ...query, ...(query.name ? { name: `${query.name}_for` } : {}), text, values });
}

const toText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
};

/** The statements that begin a transaction for a tenant. */
export function scopeStatements(scope: DatabaseScope | undefined, distributed: boolean): StatementConfig[] {
  if (!scope) return [];
  if (!distributed) return [setStatement(scopeSettings(scope))];
  // only SET LOCAL, sent as a separate statement, reaches the nodes
  const tenant = pg.escapeLiteral(scope.tenant);
  const texts = ["citus.propagate_set_commands = 'local'", `lanefold.tenant = ${tenant}`];
  if (scope.role !== undefined) texts.push(`role = ${pg.escapeIdentifier(scope.role)}`);
  return texts.map((setting) => ({ text: `set local ${setting}` }));
}

/** Runs a statement in a transaction that begins with some settings. */
async function queryInTransaction<Row>(
  pool: Connections,
  settings: readonly StatementConfig[],
  query: StatementConfig & { values: unknown[] },
): Promise<Row[]> {
  const client = await pool.connect().catch((error: unknown) => {
    throw fromPostgres(error);
  });
  const timeout = query.query_timeout === undefined ? {} : { query_timeout: query.query_timeout };
  let broken = false;
  const run = <R>(given: StatementConfig) => runQuery<R>(client, { values: [], ...given, ...timeout });
  try {
    await run({ text: 'begin' });
    for (const { text, values } of settings) await run({ text, ...(values ? { values } : {}) });
    const rows = await run<Row>(query);
    await run({ text: 'commit' });
    return rows;
  } catch (error) {
    // a server that accepts no writes answers, but the next statement must not meet it again
    broken = isConnectionError(error);
    await run({ text: 'rollback' }).catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken);
  }
}
