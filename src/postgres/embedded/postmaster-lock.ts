import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedFailed } from './failure.ts';
import { poll } from './poll.ts';
import { commandOf, isAlive, isPostmasterOf, ownerOf } from './process-identity.ts';

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

export type LockState = { is: 'free' | 'stopping' | 'running' } | { is: 'stale'; text: string };

/**
 * The state of the lock on the data dir. PostgreSQL removes the lock of a dead process itself, but neither an empty lock
 * nor one whose pid now belongs to an unrelated process (common in containers, which reuse pids): those are `stale`.
 */
export async function lockState(data: string): Promise<LockState> {
  const text = await lockText(data);
  if (text === undefined) return { is: 'free' };
  const lock = parseLock(text);
  if (!lock) return { is: 'stale', text };
  const command = isAlive(lock.pid) ? await commandOf(lock.pid) : undefined;
  if (!command) return { is: 'free' };
  if (!isPostmasterOf(command, data)) return { is: 'stale', text };
  const owner = ownerOf(command);
  const abandoned = owner !== undefined && !isAlive(owner);
  return { is: abandoned || lock.status === 'stopping' ? 'stopping' : 'running' };
}

// Rename first: if another process has meanwhile written its own lock, this notices and restores it.
async function removeStale(data: string, text: string): Promise<void> {
  const aside = `${lockPath(data)}.stale-${process.pid}`;
  await rename(lockPath(data), aside).catch(() => undefined);
  if ((await readFile(aside, 'utf8').catch(() => text)) !== text)
    await link(aside, lockPath(data)).catch(() => undefined);
  await rm(aside, { force: true });
}

export const runningElsewhere = (dir: string) =>
  embeddedFailed(
    `Another process is already running the embedded PostgreSQL in ${dir}.`,
    'Connect to it (findEmbeddedPostgres returns its URL), stop that process, or use another dir.',
    { details: { dir, running: true } },
  );

/** Waits for a cluster that is shutting down, removes a stale lock, and rejects a cluster in use. */
export async function claimData(dir: string, data: string, timeoutMs = 30_000): Promise<void> {
  const state = await poll(
    async () => {
      const now = await lockState(data);
      return now.is === 'stopping' ? undefined : now;
    },
    { timeoutMs },
  );
  if (!state || state.is === 'running') throw runningElsewhere(dir);
  if (state.is !== 'stale') return;
  // The lock of a starting server is empty for a moment.
  const settled = await poll(async () => ((await lockText(data)) === state.text ? undefined : true), {
    timeoutMs: 200,
  });
  if (settled) return claimData(dir, data, timeoutMs);
  await removeStale(data, state.text);
}
