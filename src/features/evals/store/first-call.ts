import type { Database } from '../../../database/postgres/pool.ts';

/** The first answered model call of a run on the run's own lane; undefined if it has none. */
export async function firstCall(db: Database, threadId: string, runId: string): Promise<string | undefined> {
  const [row] = await db.query<{ call: string }>(
    'first_call',
    `select e.refs ->> 'llm_call_id' as call from lanefold._run r
     join lanefold._entry e on e.thread_id = r.thread_id and e.run_id = r.id and e.context_ref = r.context_ref
     where r.thread_id = $1 and r.id = $2 and e.seq > r.user_seq and e.kind = 'ai_message' and e.role = 'assistant'
       and e.refs ? 'llm_call_id' order by e.seq limit 1`,
    [threadId, runId],
  );
  return row?.call;
}
