import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { threadErased, threadNotFound } from '../missing.ts';

export interface Thread {
  id: string;
  tenantId: string;
  /** Number of entries. */
  rev: number;
  /** Number of events; the last one has the `eventSeq` before it. */
  eventRev: number;
  activeContextRef: string;
  activeRunId: string | null;
  metadata: JsonObject;
  state: JsonObject;
  parentThreadId: string | null;
  forkSeq: number | null;
  createdAt: Date;
  updatedAt: Date;
}

/** @throws LanefoldError `thread_not_found`, `thread_erased` */
export async function readThread(db: Database, id: string): Promise<Thread> {
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
