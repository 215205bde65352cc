import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

/** How long a run waits for a worker that knows its agent, from the first one on that does not. */
const patienceMs = 60_000;

/** Leaves a run to workers that know its agent. False where none came in time, or there is no such run to pass on. */
export async function passRunOn(
  db: Database,
  run: Pick<QueuedRun, 'thread_id' | 'run_id' | 'enqueue_no'>,
): Promise<boolean> {
  const [row] = await db.queryLocking<{ passed: boolean }>(
    'pass_run_on',
    'select lanefold.pass_run_on($1, $2, $3, $4) as passed',
    [run.thread_id, run.run_id, run.enqueue_no, patienceMs],
  );
  return row!.passed;
}
