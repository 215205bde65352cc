import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from './queued-run.ts';

export interface SweepLimits {
  /** Runs given to the queue more recently than this are left alone. */
  graceMs: number;
  /** Cancelled runs may take this long to stop. */
  cancelGraceMs: number;
  limit: number;
  queuePrefix: string;
  /** Runs of another fleet are due only after this long without a sign of that fleet. */
  adoptMs: number;
  /** Agents whose runs may be taken over from another fleet. */
  adoptable: readonly string[];
}

/**
 * `queued`: perhaps without a job. `expired`: the lease ran out. `cancelled`: did not stop in time. `unapproved`: nobody
 * decided in time.
 */
export type DueRun = QueuedRun & { work: 'queued' | 'expired' | 'cancelled' | 'unapproved' };

/** Finds active runs that nobody seems to work on. Looks over all threads without a lock; what follows looks again. */
export const findDueRuns = (db: Database, limits: SweepLimits): Promise<DueRun[]> =>
  db.query<DueRun>(
    'find_due_runs',
    `select thread_id, run_id, agent, enqueue_no, queue_shard, work from (
       select thread_id, id as run_id, agent, enqueue_no, queue_shard, enqueued_at, case
         when status = 'queued' and enqueued_at < at - case when own then $1::float8 else $5 end * interval '1 ms' then 'queued'
         when status = 'running' and cancel_requested_at < at - $2::float8 * interval '1 ms' then 'cancelled'
         when status = 'running' and enqueued_at < at - $1::float8 * interval '1 ms'
           and lease_until < at - case when own then 0 else $5 end * interval '1 ms' then 'expired'
         when status = 'suspended' and suspended_until < at - case when own then 0 else $5 end * interval '1 ms' then 'unapproved'
         end as work
       from (select *, queue_prefix = $4 as own, lanefold._now() as at from lanefold._run where active) r
       where own or agent = any($6)) due
     where work is not null order by enqueued_at limit $3`,
    [limits.graceMs, limits.cancelGraceMs, limits.limit, limits.queuePrefix, limits.adoptMs, limits.adoptable],
  );
