import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { CallResult } from './end-wait.ts';

/** A child run whose parent has not been told of its end. */
export interface EndedChild {
  thread_id: string;
  run_id: string;
  parent_thread_id: string;
}

/** Child runs that ended at least `graceMs` ago without their parent being told, oldest first. */
export const findUntold = (db: Database, graceMs: number, limit: number): Promise<EndedChild[]> =>
  db.queryLong<EndedChild>(
    'find_untold_children',
    `select thread_id, run_id, parent_thread_id from lanefold._child_run
     where ended_at is not null and told_at is null and ended_at < lanefold._now() - $1::float8 * interval '1 ms'
     order by ended_at limit $2`,
    [graceMs, limit],
  );

/** Tells the parent's thread of the end of a child run. Returns the jobs of the runs that go on. */
export async function endChild(
  db: Database,
  { parent_thread_id: parent, run_id: runId }: EndedChild,
  end: { outcome: CallResult; cost: number | null; queuePrefix: string },
): Promise<QueuedRun[]> {
  const p = { child_run_id: runId, outcome: end.outcome, cost: end.cost, queue_prefix: end.queuePrefix };
  const [row] = await db.queryLocking<{ jobs: QueuedRun[] }>('end_child', 'select lanefold.end_child($1, $2) as jobs', [
    parent,
    p,
  ]);
  return row!.jobs;
}

export async function toldParent(db: Database, { thread_id: threadId, run_id: runId }: EndedChild): Promise<void> {
  await db.queryLocking('told_parent', 'select lanefold.told_parent($1, $2)', [threadId, runId]);
}

/** Whether a worker has yet to start a child run, whose parent's thread knows it already. */
export async function isToStart(db: Database, child: EndedChild): Promise<boolean> {
  const rows = await db.query(
    'is_child_to_start',
    `select 1 from lanefold._wait where thread_id = $1 and child_run_id = $2 and task = 'start' limit 1`,
    [child.parent_thread_id, child.run_id],
  );
  return rows.length > 0;
}

/** How many runs the calls of a run have started, and what those that have ended cost, in US dollars. */
export async function readChildren(
  db: Database,
  run: { threadId: string; runId: string },
): Promise<{ started: number; cost: number }> {
  const [row] = await db.query<{ started: number; cost: number }>(
    'read_children',
    `select count(*)::int as started, coalesce(sum(child_cost), 0)::float8 as cost
     from lanefold._wait where thread_id = $1 and run_id = $2 and request is not null`,
    [run.threadId, run.runId],
  );
  return row!;
}

/** Whether a call of this thread has started a run. */
export async function hasStarted(db: Database, threadId: string, child: { threadId: string; id: string }) {
  const rows = await db.query(
    'has_started_child',
    `select 1 from lanefold._wait
     where thread_id = $1 and child_run_id = $2 and child_thread_id = $3 and request is not null limit 1`,
    [threadId, child.id, child.threadId],
  );
  return rows.length > 0;
}
