import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import { type SweepLimits, executing, type DueRun } from '../run/sweep-limits.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/**
 * Ends the waits of a suspended run whose time is up. Returns the job the run needs; undefined if it still waits, or if a
 * writer holds the thread.
 */
export async function expireWaits(
  db: Database,
  run: QueuedRun,
  { queuePrefix, adoptMs }: Pick<SweepLimits, 'queuePrefix' | 'adoptMs'>,
): Promise<QueuedRun | undefined> {
  const job = (await call(db.query, 'expire_waits', {
    threadId: run.thread_id,
    runId: run.run_id,
    prefix: queuePrefix,
    adoptMs,
  })) as QueuedRun | null;
  return job ?? undefined;
}

/** Finds suspended runs with waits whose time is up, most overdue first. */
export const findExpiredWaits = (db: Database, limits: SweepLimits, limit: number): Promise<DueRun[]> =>
  search<DueRun>(db, 'queryLong', {
    name: 'find_expired_waits',
    text: `with clock as materialized (select lanefold._now() as at)
     select thread_id, id as run_id, agent, enqueue_no, queue_shard, true as taken
     from lanefold._run
     where status = 'suspended' and suspended_until < (select at from clock)
       and (queue_prefix = $1
         or (agent = any ($2) and ${executing} = any ($5)
           and suspended_until < (select at from clock) - $3::float8 * interval '1 ms'))
     order by suspended_until limit $4`,
    values: [limits.queuePrefix, limits.adoptable, limits.adoptMs, limit, limits.known.strategies],
  });
