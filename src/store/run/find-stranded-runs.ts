import type { Database } from '../../postgres/pool.ts';
import type { DueRun, SweepLimits } from './sweep-limits.ts';

/** `expired`: the lease ran out. `cancelled`: did not stop in time. */
export type StrandedRun = DueRun & { work: 'expired' | 'cancelled' };

/**
 * Finds running runs that their worker has left, at most `limit` of each kind. No index knows when a lease ends: it would
 * change with every step. So this reads what runs or is queued, and nothing that waits for approval or has ended.
 */
export const findStrandedRuns = (db: Database, limits: SweepLimits, limit: number): Promise<StrandedRun[]> =>
  db.query<StrandedRun>(
    'find_stranded_runs',
    `with clock as materialized (select lanefold._now() as at),
     running as (
       select *, queue_prefix = $3 as own, (select at from clock) as at from lanefold._run
       where active and suspended_until is null and status = 'running' and (queue_prefix = $3 or agent = any ($4))
     ),
     stranded as (
       select *, case
         when cancel_requested_at < at - $2::float8 * interval '1 ms' then 'cancelled'
         when enqueued_at < at - $1::float8 * interval '1 ms'
           and lease_until < at - case when own then 0 else $5::float8 end * interval '1 ms' then 'expired' end as work
       from running
     )
     select thread_id, id as run_id, agent, enqueue_no, queue_shard, true as begun, work
     from (select *, row_number() over (partition by work order by lease_until) as n from stranded where work is not null) s
     where n <= $6 order by lease_until`,
    [limits.graceMs, limits.cancelGraceMs, limits.queuePrefix, limits.adoptable, limits.adoptMs, limit],
  );
