import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
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
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await admin(`create database ${name}${empty ? '' : ` template ${templateDatabase} strategy file_copy`}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => {});
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await admin(`drop database ${name} with (force)`);
    },
  };
}
