/** A run that needs a job. */
export interface QueuedRun {
  thread_id: string;
  run_id: string;
  agent: string;
  enqueue_no: number;
  queue_shard: number;
  /** The job is in the queue of the agent: workers that do not know it have passed the run on. */
  agent_queue?: boolean;
  /** The fleet whose queue takes the job; absent where the caller's own does. Fleets may share a thread. */
  queue_prefix?: string;
}
