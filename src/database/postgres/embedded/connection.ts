import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { QuietClient } from '../quiet-client.ts';
import { embeddedFailed } from './failure.ts';
import type { Home } from './home.ts';

/** The URL of a database in the cluster. */
export async function connectionUrl(home: Home, port: number, database: string): Promise<string> {
  const password = await readFile(home.password, 'utf8').catch((cause: unknown) => {
    throw embeddedFailed(
      `Cannot read the password of the cluster in ${home.base}.`,
      'Run as the user that created it (or as root), or use another dir.',
      { cause },
    );
  });
  return `postgresql://postgres:${encodeURIComponent(password.trim())}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

async function query(url: string, sql: string): Promise<void> {
  const client = new QuietClient({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const hasCode = (error: unknown, code: string): boolean => (error as { code?: unknown }).code === code;

/** Creates a database if it is missing. Every cluster already has `postgres`. */
export async function ensureDatabase(home: Home, port: number, database: string): Promise<void> {
  if (database === 'postgres') return;
  const missing = await query(await connectionUrl(home, port, database), 'select 1').then(
    () => false,
    (error: unknown) => {
      if (hasCode(error, '3D000')) return true;
      throw error;
    },
  );
  if (!missing) return;
  const sql = `create database ${pg.escapeIdentifier(database)}`;
  await query(await connectionUrl(home, port, 'postgres'), sql);
}
