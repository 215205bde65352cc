import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';
import { parseJson } from '../../../base/common/json.ts';
import pg from 'pg';
import { QuietClient } from '../watched-client.ts';
import { embeddedFailed } from './failure.ts';
import type { Home } from './home.ts';

/** What other processes need to find a running cluster, without the password. */
export interface RuntimeInfo {
  pid: number;
  port: number;
  database: string;
}

/** Records a running cluster. `owner` gets the file, for later starts without root. */
export async function writeRuntime(path: string, info: RuntimeInfo, owner?: SystemUser): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  if (owner) await chown(draft, owner.uid, owner.gid);
  await rename(draft, path);
}

/** The recorded cluster; undefined if there is no record or it is damaged. */
export async function readRuntime(path: string): Promise<RuntimeInfo | undefined> {
  try {
    const info = parseJson(await readFile(path, 'utf8')) as Partial<RuntimeInfo>;
    const { pid, port, database } = info;
    return Number.isInteger(pid) && Number.isInteger(port) && database ? (info as RuntimeInfo) : undefined;
  } catch {
    return undefined;
  }
}

/** Deletes the record of a stopped cluster, unless another one has been recorded since. */
export async function clearRuntime(path: string, pid: number): Promise<void> {
  if ((await readRuntime(path))?.pid === pid) await rm(path, { force: true });
}

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
