/** The payload of a job: which run to claim, and nothing of the conversation. */
export interface RunJob {
  thread_id: string;
  run_id: string;
  enqueue_no: number;
  /** Shown in Bull Board. */
  agent: string;
}

/** The return value of a job: ids and numbers only, so that the conversation never stays in the queue. */
export interface RunJobResult {
  status: string;
  /** Why the job had nothing to claim. */
  reason?: string;
  /** Tool calls that a suspended run awaits, by round, index and name. */
  awaiting?: string[];
  /** The type of the error. */
  error?: string;
  iterations?: number;
  tokens?: number;
}

export const jobId = (job: Pick<RunJob, 'run_id' | 'enqueue_no'>): string => `${job.run_id}.${job.enqueue_no}`;

export const toJob = ({ thread_id, run_id, agent, enqueue_no }: RunJob): RunJob => ({
  thread_id,
  run_id,
  agent,
  enqueue_no,
});
