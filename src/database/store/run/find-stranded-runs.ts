import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import { agentQueue, canExecute, neededTools, needsKey } from './find-agent-queues.ts';
import { anyTime } from './find-oldest-due.ts';
import { executing, type DueRun, type SweepLimits } from './sweep-limits.ts';

/**
 * `expired`: the lease ran out. `cancelled`: did not stop in time. `moved`: waits in the queue of its agent, and
 * this worker has agent, version, strategy and tools. `unknown_agent`: has waited there for too long, and no worker can execute it.
 */
export type StrandedRun = DueRun & { work: 'expired' | 'cancelled' | 'moved' | 'unknown_agent' };

/** How often a run in the queue of its agent is checked. */
const movedMs = 2_000;

/**
 * Finds runs that a worker took and has left, at most `limit` of each kind. No index has the end of the lease, because
 * it changes with every step. So this reads all runs that are running or queued, and none that waits for approval or
 * has ended.
 */
export const findStrandedRuns = (db: Database, limits: SweepLimits, limit: number): Promise<StrandedRun[]> =>
  search<StrandedRun>(db, 'queryLong', {
    name: 'find_stranded_runs',
    text: `with clock as materialized (select lanefold._now() as at),
     taken as (
       select thread_id, id, agent, status, enqueue_no, queue_shard, enqueued_at, cancel_requested_at, lease_until, lease_ms,
              agent_unknown_since, unknown_version, unknown_strategy, ${neededTools}, queue_prefix = $3 as own,
              ${executing} as executing, ${executing} = any ($10) as executable, (select at from clock) as at
       from lanefold._run
       where active and suspended_until is null and (status = 'running' or agent_unknown_since is not null)
         and (queue_prefix = $3 or agent = any ($4)) and enqueued_at >= $11::timestamptz
     ),
     stranded as (
       select thread_id, id, agent, enqueue_no, queue_shard, enqueued_at, agent_unknown_since, unknown_version, unknown_strategy, unknown_tools, case
         when status = 'running' and cancel_requested_at < at - $2::float8 * interval '1 ms' then 'cancelled'
         when agent_unknown_since is not null then case
           when agent_unknown_since < at - $9::float8 * interval '1 ms' and own
             and ${needsKey('executing')} = any ($13) then 'unknown_agent'
           when agent = any ($8) and ${canExecute('$12', '$10', '$14')}
             and abs(extract(epoch from at - enqueued_at)) * 1000 > case when own then $7::float8 else $5::float8 end then 'moved' end
         when status = 'running' and (own or executable) and abs(extract(epoch from at - enqueued_at)) * 1000 > $1::float8
           and lanefold._lease_over(lease_until, lease_ms, at, case when own then 0 else $5::float8 end) then 'expired' end as work
       from taken
     )
     select thread_id, run_id, agent, enqueue_no, queue_shard, agent_queue, true as taken, work
     from (select thread_id, id as run_id, agent, enqueue_no, queue_shard, work, enqueued_at,
             case when agent_unknown_since is not null then ${agentQueue} end as agent_queue,
             row_number() over (partition by work order by enqueued_at) as n from stranded where work is not null) s
     where n <= $6 order by enqueued_at`,
    values: [
      limits.graceMs,
      limits.cancelGraceMs,
      limits.queuePrefix,
      limits.adoptable,
      limits.adoptMs,
      limit,
      movedMs,
      limits.known.agents,
      limits.unknownAgentMs ?? null,
      limits.known.strategies,
      limits.since ?? anyTime,
      limits.known.versions,
      limits.unattended ?? [],
      limits.known.tools,
    ],
  });
