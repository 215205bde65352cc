import pg from 'pg';
import { fromPostgres } from './errors.ts';
import { QuietClient } from './quiet-client.ts';

/** The part of a connection we use: a `pg.Pool`, a client inside a transaction or a test double will do. */
export interface Queryable {
  query(query: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface Database {
  readonly pool: pg.Pool;
  /** Runs a statement, prepared once per connection under its name. Rejects with a `LanefoldError`. */
  query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  max?: number;
  /** Use named prepared statements; turn off behind PgBouncer < 1.21 in transaction mode. */
  prepare?: boolean;
  applicationName?: string;
}

/** A server may accept a connection and then not respond; without this limit, even closing the pool would hang. */
export const connectionTimeoutMillis = 10_000;

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: QuietClient,
    connectionString: options.url,
    max: options.max ?? 10,
    connectionTimeoutMillis,
    // Our statements take milliseconds, so a long silence means a dead connection.
    query_timeout: 60_000,
    keepAlive: true,
    application_name: options.applicationName ?? 'lanefold',
  });
  // The next query replaces a broken idle connection; without a listener its error would end the process.
  pool.on('error', () => {});
  const prepare = options.prepare ?? true;
  return {
    pool,
    query: (name, text, values = []) => runQuery(pool, { ...(prepare ? { name } : {}), text, values }),
    close: () => pool.end(),
  };
}

export async function runQuery<Row>(
  on: Queryable,
  query: { name?: string; text: string; values: unknown[] },
): Promise<Row[]> {
  try {
    return (await on.query(query)).rows as Row[];
  } catch (error) {
    throw fromPostgres(error, threadOf(query));
  }
}

/** The thread of a call of one of our functions, which take it as their first argument. */
const threadOf = ({ text, values }: { text: string; values: unknown[] }): string | undefined =>
  /^select ([\w, ]+ from )?lanefold\.\w+\(\$1\b/.test(text) && typeof values[0] === 'string' ? values[0] : undefined;
