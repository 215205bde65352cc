import { open, rename, stat, type FileHandle } from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';

const rotateAt = 10 * 1024 * 1024;
const tailLines = 15;

/** The log, opened for one start attempt. */
export interface LogFile {
  path: string;
  handle: FileHandle;
  /** Everything written since then, including by other processes that start at the same time. */
  written(): Promise<string>;
}

/** The last lines of a text. */
export const lastLines = (text: string, count = tailLines): string =>
  text.trimEnd().split('\n').slice(-count).join('\n');

/**
 * Opens the log for appending. PostgreSQL inherits the descriptor, so its user needs no access to the file; `owner`
 * gets the file anyway, for later starts without root.
 */
export async function openLog(path: string, owner?: SystemUser): Promise<LogFile> {
  const before = await stat(path).catch(() => undefined);
  if (before && before.size > rotateAt) await rename(path, `${path}.1`);
  const handle = await open(path, 'a+', 0o600);
  if (owner) await handle.chown(owner.uid, owner.gid);
  const { size: start } = await handle.stat();
  const written = async () => {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(Math.max(size - start, 0), 64 * 1024));
    await handle.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  };
  return { path, handle, written };
}
