import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

export interface ForkPoint {
  /** The last entry the fork knows of; -1: none. Default: the last one. */
  seq?: number | undefined;
  /** This lane alone. Default: all. */
  contextRef?: string | undefined;
  /** Closes an open tool group with error results. */
  repair?: boolean | undefined;
}

export interface ForkReceipt {
  id: string;
  rev: number;
  /** This fork existed already. */
  duplicate: boolean;
}

/** Creates a thread that begins as another one was. Two statements, because each thread may be on a database of its own. */
export async function forkThread(
  db: Database,
  parentThreadId: string,
  { seq, contextRef, repair }: ForkPoint,
  fork: { id: string; metadata?: JsonObject | undefined; systemPrompt?: string | null | undefined },
): Promise<ForkReceipt> {
  const [found] = await db.query<{ source: JsonObject }>(
    'fork_source',
    'select lanefold.fork_source($1, $2) as source',
    [parentThreadId, { seq, context_ref: contextRef, repair }],
  );
  const p = { ...found!.source, metadata: fork.metadata, system_prompt: fork.systemPrompt };
  const [made] = await db.queryLocking<{ thread: ForkReceipt }>(
    'create_fork',
    'select lanefold.create_fork($1, $2) as thread',
    [fork.id, p],
  );
  const { id, rev, duplicate } = made!.thread;
  return { id, rev, duplicate };
}
