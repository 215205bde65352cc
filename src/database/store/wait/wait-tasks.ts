import { call } from '../call.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { ParentCall } from '../../../agent/definition/run-options.ts';
import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import type { CallRef } from '../../../base/checks/call-name.ts';
import { ofFleet, type WaitFleet } from './wait-fleet.ts';
import { isAfter, placeColumns, placeOrder, placeParameters, type WaitPlace } from './wait-place.ts';

/** The request of a child run, as its wait stores it. */
export interface StoredChild {
  agent: string;
  input: string;
  model?: string;
  max_cost?: number;
  max_iterations?: number;
  tool_context?: JsonObject;
  limit_keys?: Record<string, string>;
  /** The key of the request that began the tree. */
  caller?: string;
  /** Where its thread forks from its parent's. */
  fork?: { seq: number; context_ref: string };
  parent: ParentCall;
}

/** The request id of the run that a call starts: a repeat of the request finds that run. */
export const childRequestId = (runId: string, round: number, index: number): string =>
  `child:${runId}:${round}.${index}`;

/** Something that a worker has to do for a wait. */
export type WaitTask = WaitPlace & {
  tenant_id: string;
  created_at: Date;
  kind: 'event' | 'run' | 'spawn';
  event: string | null;
  child_thread_id: string | null;
  child_run_id: string | null;
  request: StoredChild | null;
  /** How long its wait has been over, in ms. */
  over_ms: number | null;
} & { task: 'start' | 'cancel' | 'ask' };

const columns = `${placeColumns}, tenant_id, created_at, kind, event, child_thread_id, child_run_id, request, task,
  (extract(epoch from lanefold._now() - ended_at) * 1000)::float8 as over_ms`;

/**
 * Tasks for workers of a fleet with these agents, oldest first, after a place among them; those younger than `graceMs` are
 * left to the worker of the run. A child is cancelled by any fleet: that needs no agent, and should not wait.
 */
export async function findWaitTasks(
  db: Database,
  { agents, graceMs, fleet }: { agents: readonly string[]; graceMs: number; fleet: WaitFleet },
  after: WaitPlace | undefined,
  limit: number,
): Promise<WaitTask[]> {
  const found = await search<WaitTask>(db, 'queryLong', {
    name: 'find_wait_tasks',
    text: `select ${columns} from lanefold._wait w
     where task is not null
       and (task = 'cancel'
         or (created_at < lanefold._now() - $1::float8 * interval '1 ms' and ${ofFleet('created_at', 9)}))
       and (task <> 'start' or request ->> 'agent' = any ($2)) and ${isAfter(4)}
     order by ${placeOrder} limit $3`,
    values: [graceMs, agents, limit, ...placeParameters(after), fleet.queuePrefix, fleet.adoptMs],
  });
  return found.map((task) => ({ ...task, created_at: new Date(task.created_at) }));
}

/** What is to be done for one wait; undefined if nothing is. */
export async function readWaitTask(
  db: Database,
  run: { threadId: string; runId: string },
  { round, index }: CallRef,
): Promise<WaitTask | undefined> {
  const [task] = await db.query<WaitTask>(
    'read_wait_task',
    `select ${columns} from lanefold._wait
     where thread_id = $1 and run_id = $2 and round = $3 and call_index = $4 and task is not null`,
    [run.threadId, run.runId, round, index],
  );
  return task;
}

/** Returns false if the task had changed meanwhile. */
export async function endWaitTask(db: Database, wait: WaitTask): Promise<boolean> {
  return call(db.queryLocking, 'end_wait_task', {
    threadId: wait.thread_id,
    runId: wait.run_id,
    round: wait.round,
    callIndex: wait.call_index,
    task: wait.task,
  });
}

/**
 * Whether the child run of a wait may continue: false if its call has another result, its parent was told that it has ended or
 * could not start, or its parent did not complete.
 */
export async function isWanted(db: Database, wait: WaitTask): Promise<boolean> {
  const rows = await db.query(
    'is_child_wanted',
    `select 1 from lanefold._wait w join lanefold._run r on r.thread_id = w.thread_id and r.id = w.run_id
     where w.thread_id = $1 and w.run_id = $2 and w.round = $3 and w.call_index = $4 and w.kind = $5
       and w.task is distinct from 'cancel' and w.status in ('open', 'resolved') and w.child_ended_at is null
       and (r.finished_at is null or r.status = 'completed')`,
    [wait.thread_id, wait.run_id, wait.round, wait.call_index, wait.kind],
  );
  return rows.length > 0;
}
