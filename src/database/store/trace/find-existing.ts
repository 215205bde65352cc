import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';

/** A thread, or one of its runs. */
export interface Subject {
  threadId: string;
  runId: string | undefined;
}

interface Row {
  thread_id: string;
  run_id: string;
}

/** The ones that exist, or never will because their thread was erased. One index probe for each. */
export async function findExisting(db: Database, subjects: readonly Subject[]): Promise<Subject[]> {
  const rows = await overThreads(db, subjects, {
    together: () =>
      db.query<Row>(
        'existing_subjects',
        `select w.thread_id, w.run_id
         from unnest($1::text[], $2::text[]) as w (thread_id, run_id)
         cross join lateral (
           select from lanefold.thread t
           left join lanefold._run r on r.thread_id = t.id and r.id = w.run_id
           where t.id = w.thread_id and (w.run_id = '' or r.id is not null or t.erased_at is not null)
           limit 1
         ) own`,
        [subjects.map(({ threadId }) => threadId), subjects.map(({ runId = '' }) => runId)],
      ),
    one: ({ threadId, runId = '' }) =>
      db.query<Row>(
        'existing_subject',
        `select $1 as thread_id, $2 as run_id from lanefold.thread t
         left join lanefold._run r on r.thread_id = t.id and r.id = $2
         where t.id = $1 and ($2 = '' or r.id is not null or t.erased_at is not null)`,
        [threadId, runId],
      ),
  });
  return rows.map(({ thread_id: threadId, run_id: runId }) => ({ threadId, runId: runId === '' ? undefined : runId }));
}
