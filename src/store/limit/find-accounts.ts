import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/** Accounts examined by a sweep. */
const most = 200;

/**
 * Accounts that no process has touched for a while, longest first, and touches them, so that the next sweep examines
 * others.
 */
export const findIdleAccounts = (db: Database): Promise<{ thread_id: string; run_id: string }[]> =>
  db.query(
    'idle_limit_accounts',
    `select thread_id, run_id from lanefold.idle_limit_accounts(30000, ${most})`,
  );

/** Runs of a fleet that a limit has delayed and that are not in line: their process died before it put them there. */
export const findUnlinedRuns = (db: Database, prefix: string): Promise<QueuedRun[]> =>
  db.queryLong<QueuedRun>(
    'unlined_runs',
    `select r.thread_id, r.id as run_id, r.agent, r.enqueue_no, r.queue_shard
     from lanefold._run r
     where r.waiting_for is not null and r.status = 'queued' and r.queue_prefix = $1
       and r.enqueued_at < lanefold._now() - interval '10 seconds'
       and not exists (select from lanefold._limit_account a where a.run_id = r.id and a.thread_id = r.thread_id and a.wait_name is not null)
     limit ${most}`,
    [prefix],
  );
