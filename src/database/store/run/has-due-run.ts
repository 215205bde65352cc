import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import { executing } from './sweep-limits.ts';
import type { Capabilities } from '../worker/find-lacking.ts';

/** Whose runs: those of this fleet that a worker with these agents and strategies could execute. */
export interface DueFor extends Pick<Capabilities, 'agents' | 'strategies'> {
  queuePrefix: string;
  /** No run that is due was given to the queue before: see `findOldestDue`. */
  since: string;
}

/**
 * Whether a run waits for nothing but a worker: it is queued, its `start_at` has come, and it waits for no limit, model or
 * agent; or its worker is lost, whether or not a sweep has given it a new job.
 */
export async function hasDueRun(db: Database, { queuePrefix, agents, strategies, since }: DueFor): Promise<boolean> {
  const found = await search(db, 'queryLong', {
    name: 'has_due_run',
    text: `with clock as materialized (select lanefold._now() as at)
     select 1 as due from lanefold._run
     where active and suspended_until is null and agent_unknown_since is null
       and (status = 'queued' and ready_at <= (select at from clock) and limited_by is null
         or status = 'running' and lanefold._lease_over(lease_until, lease_ms, (select at from clock)))
       and queue_prefix = $1 and agent = any ($2) and ${executing} = any ($3) and enqueued_at >= $4::timestamptz
     limit 1`,
    values: [queuePrefix, agents, strategies, since],
  });
  return found.length > 0;
}
