import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import { anyTime } from './find-oldest-due.ts';
import { executing, type DueRun, type SweepLimits } from './sweep-limits.ts';

/**
 * `enqueued_at` is more than this in the past or in the future. If it is in the future, the clock of the database went
 * back, and the run must not wait until the clock catches up.
 */
const unseenFor = (ms: string) => [
  `enqueued_at < (select at from clock) - ${ms}::float8 * interval '1 ms'`,
  `enqueued_at > (select at from clock) + ${ms}::float8 * interval '1 ms'`,
];

const unseen = unseenFor('$1').map((since, n) => {
  const adopted = unseenFor('$4')[n];
  return `(select thread_id, id, agent, enqueue_no, queue_shard, enqueued_at, started_at, options
     from lanefold._run
     where active and suspended_until is null and status = 'queued' and agent_unknown_since is null and ${since}
       and enqueued_at >= $7::timestamptz
       and (queue_prefix = $2 or (agent = any ($3) and ${executing} = any ($6) and ${adopted}))
     order by enqueued_at limit $5)`;
});

/** Finds queued runs whose jobs were not seen for a while, longest unseen first: the queue may have lost them. */
export const findQueuedRuns = (db: Database, limits: SweepLimits, limit: number): Promise<DueRun[]> =>
  search<DueRun>(db, 'queryLong', {
    name: 'find_queued_runs',
    text: `with clock as materialized (select lanefold._now() as at)
     select thread_id, id as run_id, agent, enqueue_no, queue_shard, started_at is not null as taken,
       case when started_at is null then (options ->> 'priority')::int end as priority
     from (${unseen.join(' union all ')}) due
     order by enqueued_at limit $5`,
    values: [
      limits.graceMs,
      limits.queuePrefix,
      limits.adoptable,
      limits.adoptMs,
      limit,
      limits.known.strategies,
      limits.since ?? anyTime,
    ],
  });
