import type { JsonObject } from '../../agent/context/message.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { appendHistory } from '../../database/store/log/append-history.ts';
import { readAppended } from '../../database/store/history/read-appended.ts';
import { additionKey, additionsTo, shortHash } from './keys.ts';
import type { Memory } from './known.ts';
import { Parts, settle } from './parts.ts';
import { writesKind, type WritesPayload } from '../../runs/formats/mirror/langgraph-entry.ts';
import { readTexts } from './read-values.ts';
import { assertReadable, store } from './stored.ts';
import { addressesOfWrites, areInForce, foldWrites, type DumpedWrite } from './writes.ts';

export interface WritesTarget {
  db: Database;
  threadId: string;
  ns: string;
  memory: Memory;
  contextRef: string;
}

export interface TaskWrites {
  /** Of the checkpoint. */
  id: string;
  taskId: string;
  taskPath: string;
  writes: readonly DumpedWrite[];
}

/** Appends the writes of a task, unless they are in force already. */
export async function putWrites(target: WritesTarget, { id, taskId, taskPath, writes }: TaskWrites): Promise<void> {
  const { db, threadId, ns, memory, contextRef } = target;
  if (writes.length === 0) return;
  let content = JSON.stringify([taskId, taskPath, writes]);
  // an error, interrupt or resume replaces an earlier one, so the same one may come again
  if (writes.some(({ idx }) => idx < 0)) {
    const { seq, inForce } = await readInForce(target, { id, taskId, taskPath, writes });
    if (inForce) return;
    content += ` after ${seq}`;
  }
  const parts = new Parts(memory.texts(threadId));
  const stored = writes.map(({ idx, channel, value }) => ({ idx, channel, ...store(parts, value) }));
  assertReadable(stored.map(({ located }) => located));
  const payload: WritesPayload = {
    checkpoint: id,
    ...(ns === '' ? {} : { ns }),
    task: taskId,
    ...(taskPath === '' ? {} : { path: taskPath }),
    writes: stored.map(({ idx, channel, stored: value }) => [idx, channel, value]),
    parts: parts.texts,
  };
  const { firstSeq: seq, duplicate } = await appendHistory(db, threadId, {
    entry: { kind: writesKind, contextRef, payload: payload as unknown as JsonObject },
    idempotencyKey: additionKey(ns, id, content),
    hash: shortHash(content),
  });
  if (duplicate) return;
  memory.note(
    threadId,
    parts.hashes,
    parts.texts.map((_, index) => settle({ seq: -1, index }, seq)),
  );
}

/** Whether the writes are in force, and the last entry with writes of this checkpoint. */
async function readInForce(
  { db, threadId, ns }: WritesTarget,
  { id, taskId, writes }: TaskWrites,
): Promise<{ seq: number; inForce: boolean }> {
  const { entries } = await readAppended(db, threadId, additionsTo(ns, id));
  const stored = entries
    .filter(({ kind, payload }) => kind === writesKind && payload['checkpoint'] === id)
    .sort((a, b) => a.seq - b.seq);
  const found = foldWrites(stored);
  const own = new Map(stored.map(({ seq, payload }) => [seq, payload['parts'] as string[]]));
  const texts = await readTexts(db, threadId, addressesOfWrites(found), own);
  const ofTask = stored.filter(({ payload }) => payload['task'] === taskId);
  return { seq: ofTask.at(-1)?.seq ?? -1, inForce: areInForce(writes, taskId, found, texts) };
}
