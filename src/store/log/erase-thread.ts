import type { Database } from '../../postgres/pool.ts';

export async function eraseThread(db: Database, threadId: string): Promise<void> {
  await db.queryLocking('erase_thread', 'select lanefold.erase_thread($1)', [threadId]);
}
