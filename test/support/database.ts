import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type pg from 'pg';
import { expect, inject } from 'vitest';
import path from 'node:path';
import { on } from './citus-node.ts';
import { databaseAt, statements } from './citus.ts';
import { onCitus, templateDatabase } from './services.ts';
import { until } from './until.ts';
import { openPool } from './pool.ts';

export interface TestDatabase {
  url: string;
  /** For direct queries. */
  pool: pg.Pool;
  /** Executes a statement on every node, one of them elsewhere than on Citus, as superuser beside this database. */
  onEachNode(sql: string): Promise<void>;
  drop(): Promise<void>;
}

/** SQLSTATE of a database that a process of the server is still connected to. */
const objectInUse = '55006';

/** The sessions of every node. */
export const sessionsView = onCitus ? 'citus_stat_activity' : 'pg_stat_activity';

/** Selects the sessions of this database that wait for a lock, on every node. */
export const waitingForLock = `select from ${sessionsView} where datname = current_database() and wait_event_type = 'Lock'`;

/** Creates a database for a test file from the migrated template, or an `empty` one; without fsync copying files is cheapest. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // the nodes of a cluster copy the template each, with what they know of one another
  const onEachNode = async (sql: string) =>
    void (await Promise.all(inject('postgresNodes').map((node) => statements(node, sql))));
  await onEachNode(`create database ${name}${empty ? '' : ` template ${templateDatabase} strategy file_copy`}`);
  const url = databaseAt(inject('postgresUrl'), name);
  const pool = openPool({ connectionString: url, max: 4 });
  return {
    url,
    pool,
    onEachNode,
    async drop() {
      await pool.end();
      if (calledFunctions) await noteFunctions(url);
      // the daemon of Citus comes back to a database that lets it in
      if (onCitus) await onEachNode(`alter database ${name} with allow_connections false`);
      await until('nothing is connected to the database', () =>
        onEachNode(`drop database if exists ${name} with (force)`).then(
          () => true,
          (error: unknown) => {
            if ((error as { code?: string }).code !== objectInUse) throw error;
            return false;
          },
        ),
      );
    },
  };
}

/** The file that lists the functions which suites called, one call of a suite a line; nothing is listed without it. */
const calledFunctions = process.env['LANEFOLD_TEST_FUNCTIONS'];

/** Appends the names of the functions of this database that were called on any node. */
async function noteFunctions(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (const node of inject('postgresNodes')) {
    const called = await on(databaseAt(node, name), async (client) => {
      // a session counts its calls when it ends
      await client.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database()
         and pid <> pg_backend_pid() and backend_type = 'client backend'`,
      );
      return client.query<{ name: string }>(
        "select funcname as name from pg_stat_user_functions where schemaname = 'lanefold'",
      );
    });
    const suite = path.relative('.', expect.getState().testPath ?? '');
    appendFileSync(calledFunctions!, called.rows.map((row) => `${suite} ${row.name}\n`).join(''));
  }
}
