import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SystemUser } from './system-user.ts';

/** Whether the mode bits let a user traverse a folder. */
export function mayTraverse(folder: { mode: number; uid: number; gid: number }, user: SystemUser): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === user.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

/** Whether a user can reach and enter a folder. `undefined` is the current user, who can. */
export async function canReach(folder: string, user: SystemUser | undefined): Promise<boolean> {
  if (!user) return true;
  if (!mayTraverse(await stat(folder), user)) return false;
  const parent = dirname(folder);
  return parent === folder || canReach(parent, user);
}
