import type pg from 'pg';
import { fromPostgres } from './errors.ts';
import { runQuery } from './run-query.ts';
import { scopeStatement, type Scope } from './scoped-query.ts';

/** How long a statement may take that looks at many threads. */
const longMs = 120_000;

/** Runs a statement in a transaction that gives it two minutes, in place of the timeout of its connection. */
export async function queryLong<Row>(
  pool: pg.Pool,
  query: { name?: string; text: string; values: unknown[] },
  scope?: Scope,
): Promise<Row[]> {
  const client = await pool.connect().catch((error: unknown) => {
    throw fromPostgres(error);
  });
  let broken = false;
  const run = <R>(given: typeof query) => runQuery<R>(client, { ...given, query_timeout: longMs });
  try {
    await run({ text: 'begin', values: [] });
    await run({ text: `set local statement_timeout = ${longMs - 1_000}`, values: [] });
    if (scope) {
      const { text, values } = scopeStatement(scope);
      await run({ text, values });
    }
    const rows = await run<Row>(query);
    await run({ text: 'commit', values: [] });
    return rows;
  } catch (error) {
    await run({ text: 'rollback', values: [] }).catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken);
  }
}
