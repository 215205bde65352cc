import type { Database } from '../../../database/postgres/pool.ts';

/** A thread that an eval has made, with its run. */
export interface EvalThread {
  tenant: string;
  thread_id: string;
  run_id: string;
}

/** Takes threads to erase; see `take_eval_threads`. */
export async function takeThreads(
  db: Database,
  { limit, holdMs }: { limit: number; holdMs: number },
): Promise<EvalThread[]> {
  const text = 'select t.thread from lanefold.take_eval_threads($1, $2) as t (thread)';
  return (await db.query<{ thread: EvalThread }>('take_eval_threads', text, [limit, holdMs])).map(
    ({ thread }) => thread,
  );
}

/** Notes that a thread is erased. */
export const dropThread = async (db: Database, { tenant, thread_id }: EvalThread): Promise<void> =>
  void (await db.query('drop_eval_thread', 'select from lanefold.drop_eval_thread($1, $2)', [tenant, thread_id]));

/** Removes the cases and evals of a tenant; see `erase_evals`. */
export const eraseEvals = async (db: Database, tenant: string): Promise<void> =>
  void (await db.queryLong('erase_evals', 'select from lanefold.erase_evals($1)', [tenant]));
