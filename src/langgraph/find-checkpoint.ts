import type { Database } from '../postgres/pool.ts';
import { readAppended, readEnds } from '../store/history/read-appended.ts';
import { threadErased } from '../store/missing.ts';
import { checkpointKey, checkpointsOf } from './keys.ts';
import { readCheckpoints, type FoundCheckpoint } from './read-checkpoints.ts';

/** A checkpoint, or the newest one of a namespace. @throws LanefoldError `thread_erased` */
export async function findCheckpoint(
  db: Database,
  threadId: string,
  ns: string,
  id?: string,
): Promise<FoundCheckpoint | undefined> {
  const range = id === undefined ? checkpointsOf(ns) : only(checkpointKey(ns, id));
  const { erased, entries } = await readAppended(db, threadId, { ...range, limit: 1 });
  if (erased) throw threadErased(threadId);
  const [found] = await readCheckpoints(db, threadId, ns, entries);
  return found;
}

/** The range that has one key: no id has a space. */
export const only = (key: string): { from: string; below: string } => ({ from: key, below: `${key} ` });

/** @throws LanefoldError `thread_erased` */
export async function assertKept(db: Database, threadId: string, contextRef: string): Promise<void> {
  if ((await readEnds(db, threadId, contextRef))?.erased) throw threadErased(threadId);
}
