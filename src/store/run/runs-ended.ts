import type { Database } from '../../postgres/pool.ts';

export interface RunKey {
  threadId: string;
  runId: string;
}

/** Those of the runs that have ended; a run that does not exist has. One index probe per run, whatever the statistics. */
export async function runsEnded(db: Database, runs: readonly RunKey[]): Promise<RunKey[]> {
  const rows = await db.query<{ thread_id: string; run_id: string }>(
    'runs_ended',
    `select w.thread_id, w.run_id from unnest($1::text[], $2::text[]) as w (thread_id, run_id)
     where lanefold.run_ended(w.thread_id, w.run_id)`,
    [runs.map((run) => run.threadId), runs.map((run) => run.runId)],
  );
  return rows.map((row) => ({ threadId: row.thread_id, runId: row.run_id }));
}
