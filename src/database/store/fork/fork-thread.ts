import { call } from '../call.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { ForkReceipt } from '../log/types.ts';
import { readContent } from '../content/read-content.ts';

export interface ForkPoint {
  /** The last entry that the fork takes over; -1: none. Default: the parent's last entry. */
  atSeq?: number | undefined;
  /** This lane alone. Default: all. */
  contextRef?: string | undefined;
  /** Closes an open tool group with error results. */
  repair?: boolean | undefined;
  /** Ids of large texts that the fork needs besides those its contexts quote. */
  contents?: string[] | undefined;
}

export interface NewFork {
  id: string;
  metadata?: JsonObject | undefined;
  systemPrompt?: string | null | undefined;
  /** Hash of the request, without parent and seq: reusing the id with a different request is rejected. */
  requestHash: string;
}

/** Creates a thread that begins as another one was. Two statements, because the threads may be on different nodes. */
export async function forkThread(
  db: Database,
  parentThreadId: string,
  point: ForkPoint,
  fork: NewFork,
): Promise<ForkReceipt> {
  try {
    return await forkOnce(db, parentThreadId, point, fork);
  } catch (error) {
    // the thread that kept the parent's large texts was erased meanwhile: now the parent, or a fork of it, keeps them
    if (!isLanefoldError(error, 'thread_erased')) throw error;
    return forkOnce(db, parentThreadId, point, fork);
  }
}

async function forkOnce(
  db: Database,
  parentThreadId: string,
  { atSeq, contextRef, repair, contents }: ForkPoint,
  fork: NewFork,
): Promise<ForkReceipt> {
  const found = (await call(db.query, 'fork_source', {
    threadId: parentThreadId,
    p: { at_seq: atSeq, context_ref: contextRef, repair, contents },
  })) as JsonObject;
  const source = db.settings.distributed ? await withTexts(db, parentThreadId, found) : found;
  const p = {
    ...source,
    metadata: fork.metadata,
    system_prompt: fork.systemPrompt,
    request_hash: fork.requestHash,
  };
  const { id, rev, duplicate } = (await call(db.queryLocking, 'create_fork', { threadId: fork.id, p })) as ForkReceipt;
  return { id, rev, duplicate };
}

/** Gives the fork copies of the large texts, because it may be on another node than its parent. */
async function withTexts(db: Database, parentThreadId: string, source: JsonObject): Promise<JsonObject> {
  const contents: JsonObject[] = [];
  for (const { id } of source['contents'] as { id: string }[]) {
    contents.push({ id, text: (await readContent(db, parentThreadId, id)).text });
  }
  return { ...source, contents };
}

/** Whether a thread has messages or runs, but no run with this request id. */
export async function isTaken(db: Database, threadId: string, requestId: string): Promise<boolean> {
  const [row] = await db.query<{ taken: boolean }>(
    'is_taken',
    `select not exists (select from lanefold._run r where r.thread_id = $1 and (r.request_id = $2 or r.id = $2))
       and (exists (select from lanefold._run r where r.thread_id = $1)
         or exists (select from lanefold._entry e where e.thread_id = $1 and e.kind = 'ai_message')) as taken`,
    [threadId, requestId],
  );
  return row!.taken;
}
