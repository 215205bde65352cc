import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import type { QueuedRun } from './queued-run.ts';

/** Notes that the queue has the jobs of these runs: the next sweep looks at others, and no other fleet takes them over. */
export async function markJobsSeen(db: Database, runs: readonly QueuedRun[]): Promise<void> {
  if (db.settings.distributed) {
    const mark = 'select lanefold.mark_job_seen($1, $2, $3)';
    await eachThread(runs, (run) => db.query('mark_job_seen', mark, [run.thread_id, run.run_id, run.enqueue_no]));
    return;
  }
  await db.query(
    'mark_jobs_seen',
    `select lanefold.mark_job_seen(q.thread_id, q.run_id, q.enqueue_no)
     from jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int)`,
    [JSON.stringify(runs)],
  );
}

/** Notes that a run has no job, so that its fleet's next sweep adds it. */
export async function markJobMissing(db: Database, run: QueuedRun): Promise<void> {
  await db.query('mark_job_missing', 'select lanefold.mark_job_missing($1, $2, $3)', [
    run.thread_id,
    run.run_id,
    run.enqueue_no,
  ]);
}
