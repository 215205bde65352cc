import type { Database } from '../postgres/pool.ts';
import type { RunQueue } from './queue.ts';
import type { PromotedRun } from '../store/commit-step.ts';
import { toJob } from './job.ts';

/**
 * Gives the run that became its thread's active one to its workers. Where that is another fleet, whose queue cannot be
 * reached from here, the run counts as forgotten at once, and the fleet's next sweep adds the job.
 */
export async function addPromoted(db: Database, queue: RunQueue, run: PromotedRun): Promise<void> {
  if (run.queue_prefix === queue.prefix) return queue.add(toJob(run), run.queue_shard);
  await db.query(
    'promoted_elsewhere',
    `update lanefold._run set enqueued_at = clock_timestamp() - interval '10 s'
     where thread_id = $1 and id = $2 and enqueue_no = $3 and status = 'queued'`,
    [run.thread_id, run.run_id, run.enqueue_no],
  );
}
