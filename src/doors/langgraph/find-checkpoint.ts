import type { Database } from '../../database/postgres/pool.ts';
import { readAppended, readEnds, readReceipt } from '../../database/store/history/read-appended.ts';
import { threadErased } from '../../database/store/missing.ts';
import { checkpointKind } from '../../runs/formats/mirror/langgraph-entry.ts';
import { additionsTo, checkpointKey, checkpointsOf } from './keys.ts';
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

/** The receipt of the version of a checkpoint that was stored last; undefined if there is only the first one. */
export async function readVersion(
  db: Database,
  threadId: string,
  ns: string,
  id: string,
): Promise<{ hash: string; seq: number } | undefined> {
  const { entries } = await readAppended(db, threadId, additionsTo(ns, id));
  const versions = entries.filter(({ kind, payload }) => kind === checkpointKind && payload['id'] === id);
  const last = versions.sort((a, b) => a.seq - b.seq).at(-1);
  return last && readReceipt(db, threadId, last.key);
}

/** The range that has one key: no id has a space. */
export const only = (key: string): { from: string; below: string } => ({ from: key, below: `${key} ` });

/** @throws LanefoldError `thread_erased` */
export async function assertKept(db: Database, threadId: string, contextRef: string): Promise<void> {
  if ((await readEnds(db, threadId, contextRef))?.erased) throw threadErased(threadId);
}
