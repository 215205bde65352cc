import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

/** Whether a run exists, is queued, and still under this `enqueue_no`. */
export async function isQueued(db: Database, run: QueuedRun): Promise<boolean> {
  const found = await db.query(
    'is_queued',
    "select 1 from lanefold._run where thread_id = $1 and id = $2 and status = 'queued' and enqueue_no = $3",
    [run.thread_id, run.run_id, run.enqueue_no],
  );
  return found.length > 0;
}
