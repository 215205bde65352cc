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
