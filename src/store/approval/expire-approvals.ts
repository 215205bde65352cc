import type { Database } from '../../postgres/pool.ts';
import { type SweepLimits, executing, type DueRun } from '../run/sweep-limits.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/**
 * Denies the calls of a suspended run that were not decided in time. Returns the job the run needs; undefined if there
 * is nothing left to do, or if a writer holds the thread.
 */
export async function expireApprovals(
  db: Database,
  run: QueuedRun,
  { queuePrefix, adoptMs }: Pick<SweepLimits, 'queuePrefix' | 'adoptMs'>,
): Promise<QueuedRun | undefined> {
  const [row] = await db.query<{ job: QueuedRun | null }>(
    'expire_approvals',
    'select lanefold.expire_approvals($1, $2, $3, $4) as job',
    [run.thread_id, run.run_id, queuePrefix, adoptMs],
  );
  return row!.job ?? undefined;
}

/** Finds suspended runs whose calls were not decided in time, most overdue first. */
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
