import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { tenantIs } from '../tenant/tenant-settings.ts';

/** What was erased with a thread. */
export interface Erased {
  tenant_id: string;
  entries: number;
  events: number;
  runs: number;
  tool_calls: number;
  inputs: number;
  operations: number;
  contents: number;
  /** The last job of each run; the ones before it have a lower `enqueue_no`. */
  jobs: { queue_prefix: string; queue_shard: number; agent: string; run_id: string; enqueue_no: number }[];
  /** Of the runs that its tool calls asked for. They may be erased, or never have begun. */
  child_threads: string[];
}

export async function eraseThread(db: Database, threadId: string): Promise<Erased> {
  const erased = (await call(db.queryLocking, 'erase_conversation', { threadId })) as Erased;
  // they are on the coordinator, not on the node that erased the thread
  if (db.settings.distributed) await call(db.query, 'erase_streams', { thread: threadId, tenant: null });
  return erased;
}

/** Erases the streams of a tenant that belong to no thread. */
export async function eraseTenantStreams(db: Database, tenantId: string): Promise<void> {
  await call(db.queryLong, 'erase_streams', { thread: null, tenant: tenantId });
}

/** Drops the messages of a topic that BullMQ on PostgreSQL still holds for readers that are gone. */
export async function dropUnread(db: Database, topic: string): Promise<void> {
  await db.query('drop_unread', 'delete from bullmq.relay_inbox where topic = $1', [topic]);
}

/** Threads of a tenant that are not erased yet, the oldest first. */
export async function findThreadsOf(db: Database, tenantId: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'threads_of_tenant',
    `select id from lanefold.thread where ${tenantIs(db, '$1')} and erased_at is null order by created_at, id limit $2`,
    [tenantId, limit],
  );
  return rows.map((row) => row.id);
}
