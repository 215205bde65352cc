import type { Database } from '../../postgres/pool.ts';

/** Whether somebody has written to a thread, or asked on it, and not with this request id. */
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
