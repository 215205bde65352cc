import type { Database } from '../../postgres/pool.ts';
import { executing, type DueRun, type SweepLimits } from '../run/sweep-limits.ts';

/** Finds suspended runs on which nobody decided in time, the most overdue first. */
export const findUnapprovedRuns = (db: Database, limits: SweepLimits, limit: number): Promise<DueRun[]> =>
  db.queryLong<DueRun>(
    'find_unapproved_runs',
    `with clock as materialized (select lanefold._now() as at)
     select thread_id, id as run_id, agent, enqueue_no, queue_shard, true as taken
     from lanefold._run
     where status = 'suspended' and suspended_until < (select at from clock)
       and (queue_prefix = $1
         or (agent = any ($2) and ${executing} = any ($5)
           and suspended_until < (select at from clock) - $3::float8 * interval '1 ms'))
     order by suspended_until limit $4`,
    [limits.queuePrefix, limits.adoptable, limits.adoptMs, limit, limits.known.strategies],
  );
