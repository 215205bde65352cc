import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

export interface NewThread {
  id: string;
  tenantId?: string | undefined;
  metadata?: JsonObject | undefined;
  systemPrompt?: string | null | undefined;
}

export async function createThread(db: Database, thread: NewThread): Promise<{ id: string; rev: number }> {
  const { id, tenantId, metadata, systemPrompt } = thread;
  const [row] = await db.queryLocking<{ thread: { id: string; rev: number } }>(
    'create_thread',
    'select lanefold.create_thread($1, $2) as thread',
    [id, { tenant_id: tenantId, metadata, system_prompt: systemPrompt }],
  );
  return { id: row!.thread.id, rev: row!.thread.rev };
}
