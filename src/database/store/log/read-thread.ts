import { call } from '../call.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { threadErased, threadNotFound } from '../missing.ts';
import type { RecordedThread } from './types.ts';
import { spentIn, toSpent, type SpentByModel } from '../run/spent.ts';

/** @throws LanefoldError `thread_not_found`, `thread_erased` */
export async function readThread(db: Database, id: string): Promise<RecordedThread> {
  const [row] = await db.query<Record<string, never>>(
    'get_thread',
    `select id, tenant_id, rev, event_rev, active_context_ref, active_run_id, metadata, state, parent_thread_id, fork_seq, created_at,
       updated_at, erased_at
     from lanefold.thread where id = $1`,
    [id],
  );
  if (!row) throw threadNotFound(id);
  if (row['erased_at']) throw threadErased(id);
  return {
    id: row['id']!,
    tenantId: row['tenant_id']!,
    rev: Number(row['rev']),
    eventRev: Number(row['event_rev']),
    activeContextRef: row['active_context_ref']!,
    activeRunId: row['active_run_id']!,
    metadata: row['metadata']!,
    state: row['state']!,
    parentThreadId: row['parent_thread_id']!,
    forkSeq: row['fork_seq'] === null ? null : Number(row['fork_seq']),
    createdAt: row['created_at']!,
    updatedAt: row['updated_at']!,
  };
}

interface NewThread {
  id: string;
  tenantId?: string | undefined;
  metadata?: JsonObject | undefined;
  systemPrompt?: string | null | undefined;
}

export async function createThread(db: Database, thread: NewThread): Promise<{ id: string; rev: number }> {
  const { id, tenantId, metadata, systemPrompt } = thread;
  const created = (await call(db.queryLocking, 'create_thread', {
    threadId: id,
    p: { tenant_id: tenantId, metadata, system_prompt: systemPrompt },
  })) as { id: string; rev: number };
  return { id: created.id, rev: created.rev };
}

/** How many runs of a thread are counted, newest first. */
const counted = 1_000;

/**
 * SQL: the runs of a thread whose tokens count; `id` is the thread's id in SQL. On a distributed database these are all
 * of its runs, because a node supports no limit in a subquery.
 */
export const countedRuns = (id: string, distributed: boolean): string =>
  `select k.id, k.created_at, k.model, k.iteration, k.usage, k.other_usage from lanefold._run k
   where k.thread_id = ${id} ${distributed ? '' : `order by k.id desc limit ${counted}`}`;

/** The tokens of the newest 1,000 runs of a thread by model, as in lists; of all its runs on a distributed database. */
export async function readThreadSpent(db: Database, id: string): Promise<SpentByModel[]> {
  const [row] = await db.query<{ spent: object[] | null }>(
    'thread_spent',
    `select ${spentIn(countedRuns('$1', db.settings.distributed))} as spent`,
    [id],
  );
  return toSpent(row!.spent);
}
