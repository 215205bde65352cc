import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { databaseAt, statements } from './citus.ts';
import { templateDatabase } from './services.ts';

export interface TestDatabase {
  url: string;
  /** For direct queries. */
  pool: pg.Pool;
  drop(): Promise<void>;
}

/** Creates a database for a test file from the migrated template, or an `empty` one; without fsync copying files is cheapest. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // the nodes of a cluster copy the template each, with what they know of one another
  const onEach = (sql: string) => Promise.all(inject('postgresNodes').map((node) => statements(node, sql)));
  await onEach(`create database ${name}${empty ? '' : ` template ${templateDatabase} strategy file_copy`}`);
  const url = databaseAt(inject('postgresUrl'), name);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await onEach(`drop database ${name} with (force)`);
    },
  };
}
