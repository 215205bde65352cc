import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import type { QueuedRun } from './queued-run.ts';

export type ExpiredRun = Pick<QueuedRun, 'thread_id' | 'run_id' | 'agent'>;

/** Finds runs, of any fleet, that no worker has started within their time to live, most overdue first. */
export const findExpiredRuns = (db: Database, limit: number): Promise<ExpiredRun[]> =>
  search(db, 'query', {
    name: 'find_expired_runs',
    text: `with clock as materialized (select lanefold._now() as at)
     select thread_id, id as run_id, agent from lanefold._run
     where expires_at is not null and finished_at is null and started_at is null and expires_at <= (select at from clock)
     order by expires_at limit $1`,
    values: [limit],
  });
