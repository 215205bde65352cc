import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

/**
 * Notes that the run waits in the queue of its agent, and tells the workers that know it. False where nothing is to be put
 * there: the run has another job, has ended, or is in the hands of a worker.
 */
export async function passRunOn(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id' | 'enqueue_no'>,
): Promise<boolean> {
  const [row] = await db.queryLocking<{ passed: boolean }>(
    'pass_run_on',
    'select lanefold.pass_run_on($1, $2, $3, null) as passed',
    [run.thread_id, run.run_id, run.enqueue_no],
  );
  return row!.passed;
}
