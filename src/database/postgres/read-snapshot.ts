import pg from 'pg';
import { fromPostgres } from './errors.ts';
import { longMs, scopeStatements } from './query-in-scope.ts';
import { runQuery } from './run-query.ts';
import type { DatabaseScope } from './query-with-settings.ts';

/** Executes a statement. Every value is the text that the server sent, or null. */
export type ReadRaw = <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

const asSent: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/**
 * Yields what `read` yields, from a read-only transaction that sees one snapshot of the database. In its statements an
 * unqualified name always means PostgreSQL's own object: no setting of the role or the database changes that.
 */
export async function* readSnapshot<T, R>(
  pool: pg.Pool,
  scope: DatabaseScope | undefined,
  distributed: boolean,
  read: (query: ReadRaw) => AsyncGenerator<T, R>,
): AsyncGenerator<T, R> {
  const client = await pool.connect().catch((error: unknown) => {
    throw fromPostgres(error);
  });
  const query: ReadRaw = (text, values = []) =>
    runQuery(client, { text, values, types: asSent, query_timeout: longMs });
  let broken = false;
  try {
    await query('begin isolation level repeatable read read only');
    // passes SET LOCAL on to the sessions on other nodes, which have their own settings
    if (distributed) await query("set local citus.propagate_set_commands = 'local'");
    await query('set local search_path = pg_catalog, pg_temp');
    await query(`set local statement_timeout = ${longMs - 1_000}`);
    for (const { text, values } of scopeStatements(scope, distributed)) await query(text, values);
    return yield* read(query);
  } finally {
    await query('rollback').catch(() => (broken = true));
    client.release(broken);
  }
}
