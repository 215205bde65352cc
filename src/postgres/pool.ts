import pg from 'pg';
import { fromPostgres } from './errors.ts';
import { QuietClient } from './quiet-client.ts';

/** What the core needs of a connection: a `pg.Pool`, a client inside a transaction, or a test double do. */
export interface Queryable {
  query(query: { text: string; values?: unknown[]; name?: string }): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface Database {
  readonly pool: pg.Pool;
  /** Runs a statement; named ones are prepared once per connection. Faults arrive as `LanefoldError`. */
  query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Connections of this process at most. */
  max?: number;
  /** Named prepared statements; switch off behind a PgBouncer older than 1.21 in transaction mode. */
  prepare?: boolean;
  applicationName?: string;
}

/** A server may take a connection and say nothing: whoever waits for it, to close it too, must come to an end. */
export const connectionTimeoutMillis = 10_000;

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: QuietClient,
    connectionString: options.url,
    max: options.max ?? 10,
    connectionTimeoutMillis,
    // our statements take milliseconds: a longer silence is a connection that is gone and does not say so
    query_timeout: 60_000,
    keepAlive: true,
    application_name: options.applicationName ?? 'lanefold',
  });
  // An idle connection that breaks is replaced by the next query; without a listener it would end the process.
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
    throw fromPostgres(error);
  }
}
