import type { Database } from '../../postgres/pool.ts';

/** A run that needs a job. */
export interface QueuedRun {
  thread_id: string;
  run_id: string;
  agent: string;
  enqueue_no: number;
  queue_shard: number;
  /** The agent's queue, if the job is there: workers that lack the agent, or its strategy, moved the run. */
  agent_queue?: string | null;
  /** For a run that no worker has started: its priority among the waiting jobs, as in BullMQ. */
  priority?: number;
  /** Time until it may be started. */
  delay_ms?: number;
  /** The fleet whose queue takes the job; absent if it is the caller's. Fleets may share a thread. */
  queue_prefix?: string;
}

/** Whether a run exists, is queued, and still has this `enqueue_no`. */
export async function isQueued(db: Database, run: QueuedRun): Promise<boolean> {
  const found = await db.query(
    'is_queued',
    "select 1 from lanefold._run where thread_id = $1 and id = $2 and status = 'queued' and enqueue_no = $3",
    [run.thread_id, run.run_id, run.enqueue_no],
  );
  return found.length > 0;
}
