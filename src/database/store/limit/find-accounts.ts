import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/search.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/** Accounts examined by a sweep. */
const most = 200;

/**
 * Accounts that no process has touched for a while, longest first, and touches them, so that the next sweep examines
 * others.
 */
export const findIdleAccounts = (db: Database): Promise<{ thread_id: string; run_id: string }[]> =>
  db.query('idle_limit_accounts', `select thread_id, run_id from lanefold.idle_limit_accounts(30000, ${most})`);

/**
 * Runs that hold what other runs wait for, of accounts that no process has touched for this long. A worker that executes
 * a run may hold it so, too.
 */
export const findHoldingAccounts = (db: Database, idleMs: number): Promise<{ thread_id: string; run_id: string }[]> =>
  db.query('holding_limit_accounts', `select thread_id, run_id from lanefold.holding_limit_accounts($1, ${most})`, [
    idleMs,
  ]);

const delayed = `
  select r.thread_id, r.id as run_id, r.agent, r.enqueue_no, r.queue_shard
  from lanefold._run r
  where r.limited_by is not null and r.status = 'queued' and r.queue_prefix = $1
    and (r.limited_by ->> 'since')::timestamptz < (select lanefold._now()) - interval '10 seconds'`;
const inLine = (run: string) =>
  `exists (select from lanefold._limit_account a where a.run_id = ${run}.run_id and a.thread_id = ${run}.thread_id and a.wants is not null)`;

/** On a distributed database, the most delayed runs that are looked at. */
const mostDelayed = 5_000;

/** Runs of a fleet that a limit has delayed and that are not in line: their process died before it put them there. */
export async function findUnlinedRuns(db: Database, prefix: string): Promise<QueuedRun[]> {
  if (!db.settings.distributed) {
    const text = `select d.thread_id, d.run_id, d.agent, d.enqueue_no, d.queue_shard from (${delayed}) d where not ${inLine('d')} limit ${most}`;
    return db.queryLong<QueuedRun>('unlined_runs', text, [prefix]);
  }
  // accounts are on the coordinator, runs are not
  const values = [prefix];
  const runs = await search<QueuedRun>(db, 'queryLong', {
    ...{ name: 'delayed_runs', text: `${delayed} limit ${mostDelayed}`, values },
  });
  const text = `select d.thread_id, d.run_id, d.agent, d.enqueue_no, d.queue_shard from jsonb_to_recordset($1) as d (thread_id text, run_id text, agent text, enqueue_no int, queue_shard int)
     where not ${inLine('d')} limit ${most}`;
  return runs.length === 0 ? [] : db.query<QueuedRun>('runs_out_of_line', text, [JSON.stringify(runs)]);
}
