import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

/** The job of a run that a worker may not start yet; undefined for any other, and for a run of another fleet. */
export async function findDelayedJob(
  db: Database,
  threadId: string,
  runId: string,
  queuePrefix: string,
): Promise<QueuedRun | undefined> {
  const [job] = await db.query<QueuedRun>(
    'find_delayed_job',
    `select thread_id, id as run_id, agent, enqueue_no, queue_shard from lanefold._run
     where thread_id = $1 and id = $2 and queue_prefix = $3 and enqueue_no > 0 and start_at > lanefold._now()`,
    [threadId, runId, queuePrefix],
  );
  return job;
}
