import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { RunRef } from '../run/run.ts';
import type { CallResult } from './end-wait.ts';
import { ofFleet, type WaitFleet } from './wait-fleet.ts';
import { isAfter, placeColumns, placeOrder, placeParameters, type WaitPlace } from './wait-place.ts';
import { readRows } from '../rows.ts';

/** A child run whose parent has not been told of its end. */
export interface EndedChild {
  thread_id: string;
  run_id: string;
  parent_thread_id: string;
}

/**
 * Child runs of a fleet that ended at least `graceMs` ago without their parent being told, oldest first. Of one whose
 * thread was erased, nothing is left but that it ended, so any fleet tells it.
 */
export const findUntold = (
  db: Database,
  { queuePrefix, adoptMs }: WaitFleet,
  graceMs: number,
  limit: number,
): Promise<EndedChild[]> =>
  search<EndedChild>(db, 'queryLong', {
    name: 'find_untold_children',
    text: `select thread_id, run_id, parent_thread_id from lanefold._child_run w
     where ended_at is not null and told_at is null and ended_at < lanefold._now() - $1::float8 * interval '1 ms'
       and ${ofFleet('ended_at', 3)}
     order by ended_at limit $2`,
    values: [graceMs, limit, queuePrefix, adoptMs],
  });

/** Calls of a fleet's runs that have waited for a run for a minute, oldest first, after a place among them. */
export async function findOpenRunWaits(
  db: Database,
  { queuePrefix, adoptMs }: WaitFleet,
  after: WaitPlace | undefined,
  limit: number,
): Promise<(WaitPlace & { child: EndedChild })[]> {
  const rows = await search<WaitPlace & { child_thread_id: string; child_run_id: string }>(db, 'query', {
    name: 'find_open_run_waits',
    text: `select ${placeColumns}, child_thread_id, child_run_id from lanefold._wait w
     where status = 'open' and kind = 'run' and task is null and created_at < lanefold._now() - interval '1 minute'
       and ${ofFleet('created_at', 7)} and ${isAfter(2)}
     order by ${placeOrder} limit $1`,
    values: [limit, ...placeParameters(after), queuePrefix, adoptMs],
  });
  return rows.map(({ child_thread_id, child_run_id, ...place }) => ({
    ...place,
    child: { thread_id: child_thread_id, run_id: child_run_id, parent_thread_id: place.thread_id },
  }));
}

/** Tells the parent's thread of the end of a child run. Returns the jobs of the runs that continue. */
export async function endChild(
  db: Database,
  { parent_thread_id: parent, run_id: runId }: EndedChild,
  end: { outcome: CallResult; cost: number | null; queuePrefix: string },
): Promise<QueuedRun[]> {
  const p = { child_run_id: runId, outcome: end.outcome, cost: end.cost, queue_prefix: end.queuePrefix };
  return (await call(db.queryLocking, 'end_child', { threadId: parent, p })) as QueuedRun[];
}

export async function toldParent(db: Database, { thread_id: threadId, run_id: runId }: EndedChild): Promise<void> {
  await call(db.queryLocking, 'told_parent', { threadId, runId });
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

/** How many runs the calls of a run have started, and what they cost, or may cost until they end, in US dollars. */
export async function readChildren(
  db: Database,
  run: { threadId: string; runId: string },
): Promise<{ started: number; cost: number }> {
  const [row] = await db.query<{ started: number; cost: number }>(
    'read_children',
    `select count(*)::int as started,
       coalesce(sum(case when child_ended_at is null then (request ->> 'max_cost')::float8 else child_cost end), 0)::float8 as cost
     from lanefold._wait where thread_id = $1 and run_id = $2 and request is not null`,
    [run.threadId, run.runId],
  );
  return row!;
}

/** The runs that the calls of a run have started, by round and index of the call: `1.0`. */
export async function readStarted(db: Database, { threadId, id }: RunRef): Promise<Map<string, RunRef>> {
  const rows = await readRows<RunRef & { call: string }>(
    db,
    'read_started_children',
    `select round || '.' || call_index as call, child_thread_id as thread_id, child_run_id as id from lanefold._wait
     where thread_id = $1 and run_id = $2 and request is not null`,
    [threadId, id],
  );
  return new Map(rows.map(({ call, ...child }) => [call, child]));
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

/** The root of the tree that a run belongs to; the run itself if no call has started it, or if it has not started yet. */
export async function findRoot(db: Database, { threadId, id }: RunRef): Promise<RunRef> {
  const [root] = await readRows<RunRef>(
    db,
    'find_root',
    'select root_thread_id as thread_id, root_run_id as id from lanefold._child_run where thread_id = $1 and run_id = $2',
    [threadId, id],
  );
  return root ?? { threadId, id };
}
