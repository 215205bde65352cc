import type { Database } from '../../postgres/pool.ts';
import type { DueRun, SweepLimits } from './sweep-limits.ts';

/** Finds queued runs whose jobs nobody has seen for a while, those longest unseen first: they may have lost them. */
export const findQueuedRuns = (db: Database, limits: SweepLimits, limit: number): Promise<DueRun[]> =>
  db.query<DueRun>(
    'find_queued_runs',
    `with clock as materialized (select lanefold._now() as at)
     select thread_id, id as run_id, agent, enqueue_no, queue_shard, started_at is not null as taken
     from lanefold._run
     where active and suspended_until is null and status = 'queued' and agent_unknown_since is null
       and enqueued_at < (select at from clock) - $1::float8 * interval '1 ms'
       and (queue_prefix = $2
         or (agent = any ($3) and enqueued_at < (select at from clock) - $4::float8 * interval '1 ms'))
     order by enqueued_at limit $5`,
    [limits.graceMs, limits.queuePrefix, limits.adoptable, limits.adoptMs, limit],
  );
