import type { Database } from '../../postgres/pool.ts';

export interface JobName {
  queue: string;
  id: string;
}

/** `stalled`: its worker stopped renewing the lock of the job, or BullMQ has put it at the end of the queue for that. */
export type JobPlace = 'waiting' | 'active' | 'stalled' | 'gone';

/** Where the jobs of a queue in this database are, in the order asked. BullMQ has a call for one job only. */
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
