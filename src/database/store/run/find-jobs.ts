import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';
import { overThreads } from '../each-thread.ts';

export interface JobName {
  queue: string;
  id: string;
}

/** `stalled`: its worker stopped renewing the job's lock, or BullMQ has put the job back in the queue for that. */
export type JobPlace = 'waiting' | 'active' | 'stalled' | 'gone';

/** Where jobs of a queue in this database are, in the order asked. BullMQ itself looks up only one job per call. */
export async function findJobs(db: Database, jobs: readonly JobName[]): Promise<JobPlace[]> {
  const rows = await db.query<{ place: JobPlace }>(
    'find_jobs',
    `with clock as materialized (select extract(epoch from lanefold._now()) * 1000 as ms)
     select case
       when j.id is null or j.state in ('completed', 'failed') then 'gone'
       when j.state = 'active' then case when j.locked_until_ms < (select ms from clock) then 'stalled' else 'active' end
       when j.stalled_count > 0 then 'stalled'
       else 'waiting' end as place
     from rows from (jsonb_to_recordset($1) as (queue text, id text)) with ordinality as n (queue, id, ordinal)
     left join bullmq.job j on j.queue = n.queue and j.id = n.id
     order by n.ordinal`,
    [JSON.stringify(jobs)],
  );
  return rows.map((row) => row.place);
}

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

/** Records that the queue has these runs' jobs: the next sweep checks others, and no other fleet takes them over. */
export async function markJobsSeen(db: Database, runs: readonly QueuedRun[]): Promise<void> {
  await overThreads(db, runs, {
    together: () =>
      db.query(
        'mark_jobs_seen',
        `select lanefold.mark_job_seen(q.thread_id, q.run_id, q.enqueue_no)
         from jsonb_to_recordset($1) as q (thread_id text, run_id text, enqueue_no int)`,
        [JSON.stringify(runs)],
      ),
    one: ({ thread_id, run_id, enqueue_no }) =>
      call(db.query, 'mark_job_seen', { threadId: thread_id, runId: run_id, enqueueNo: enqueue_no }).then(() => []),
  });
}

/** Records that a run has no job, so that its fleet's next sweep adds it. */
export async function markJobMissing(db: Database, run: QueuedRun): Promise<void> {
  await call(db.query, 'mark_job_missing', { threadId: run.thread_id, runId: run.run_id, enqueueNo: run.enqueue_no });
}
