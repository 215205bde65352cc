import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { poll } from './supervisor.ts';
import { commandOf, isAlive, isPostmasterOf, lifelineOf } from './process-identity.ts';

/** The content of PostgreSQL's own lock file, postmaster.pid. */
export interface PostmasterLock {
  pid: number;
  port: number;
  status: string;
}

const lockPath = (data: string): string => join(data, 'postmaster.pid');

/** Parses the text of a postmaster.pid; undefined if a crash left it empty or garbled. */
export function parseLock(text: string): PostmasterLock | undefined {
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? '' } : undefined;
}

const lockText = (data: string): Promise<string | undefined> =>
  readFile(lockPath(data), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

export async function readLock(data: string): Promise<PostmasterLock | undefined> {
  const text = await lockText(data);
  return text === undefined ? undefined : parseLock(text);
}

/** `lifeline`: the name of the postmaster's lifeline; undefined if Lanefold did not start it. */
export type LockState =
  | { is: 'free' | 'stopping' }
  | { is: 'running'; lock: PostmasterLock; lifeline: string | undefined }
  | { is: 'stale'; text: string };

/**
 * The state of the lock on the data dir. PostgreSQL removes a dead process's lock itself, except an empty lock or one
 * whose pid now belongs to an unrelated process (common in containers, which reuse pids): those are `stale`.
 */
export async function lockState(data: string): Promise<LockState> {
  const text = await lockText(data);
  if (text === undefined) return { is: 'free' };
  const lock = parseLock(text);
  if (!lock) return { is: 'stale', text };
  const command = isAlive(lock.pid) ? await commandOf(lock.pid) : undefined;
  if (!command) return { is: 'free' };
  if (!isPostmasterOf(command, data)) return { is: 'stale', text };
  return lock.status === 'stopping' ? { is: 'stopping' } : { is: 'running', lock, lifeline: lifelineOf(command) };
}

/** Removes a stale lock, unless it changes: the lock of a starting server is empty for a moment. */
export async function removeStaleLock(data: string, text: string): Promise<void> {
  const changed = await poll(async () => ((await lockText(data)) === text ? undefined : true), { timeoutMs: 200 });
  if (changed) return;
  // Rename first: this detects a lock that another process has written meanwhile, and restores it.
  const aside = `${lockPath(data)}.stale-${process.pid}`;
  await rename(lockPath(data), aside).catch(() => undefined);
  if ((await readFile(aside, 'utf8').catch(() => text)) !== text)
    await link(aside, lockPath(data)).catch(() => undefined);
  await rm(aside, { force: true });
}
