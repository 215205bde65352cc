import type { Database } from '../../postgres/pool.ts';

/** A run that needs a job. */
export interface QueuedRun {
  thread_id: string;
  run_id: string;
  agent: string;
  enqueue_no: number;
  queue_shard: number;
  /** The queue of an agent that has the job: workers that lack the agent, or its strategy, have passed the run on. */
  agent_queue?: string | null;
  /** Of a run that no worker has started: its place among the jobs that wait, as in BullMQ. */
  priority?: number;
  /** Until it may be started. */
  delay_ms?: number;
  /** The fleet whose queue takes the job; absent where the caller's own does. Fleets may share a thread. */
  queue_prefix?: string;
}

/** Whether a run exists, is queued, and still under this `enqueue_no`. */
export async function isQueued(db: Database, run: QueuedRun): Promise<boolean> {
  const found = await db.query(
    'is_queued',
    "select 1 from lanefold._run where thread_id = $1 and id = $2 and status = 'queued' and enqueue_no = $3",
    [run.thread_id, run.run_id, run.enqueue_no],
  );
  return found.length > 0;
}
