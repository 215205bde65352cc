import { fromPostgres, isConnectionError } from './errors.ts';
import type { Connections } from './node-guard.ts';
import { runQuery } from './run-query.ts';
import type { StatementConfig } from './scoped-query.ts';

/** Runs a statement in a transaction that begins with some settings. */
export async function queryInTransaction<Row>(
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
