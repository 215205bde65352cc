import { call } from '../call.ts';
import type { Usage, JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';
import { noticed } from '../call-function.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { HeldLease } from '../run/renew-leases.ts';

/** The row of a run, as far as its limits concern it. */
export interface LimitedRunRow {
  tenantId: string;
  caller: string | null;
  agent: string;
  model: string;
  limitKeys: Record<string, string> | null;
  priority: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  iteration: number;
  usage: Usage | null;
  otherUsage: Record<string, Usage> | null;
}

/** Undefined if the run does not exist. */
export async function readLimitedRun(
  db: Database,
  threadId: string,
  runId: string,
): Promise<LimitedRunRow | undefined> {
  const [row] = await readRows<LimitedRunRow>(
    db,
    'limited_run',
    `select tenant_id, caller, agent, model, options -> 'limit_keys' as limit_keys,
       (options ->> 'priority')::int as priority, created_at, finished_at, iteration, usage,
       other_usage
     from lanefold._run where thread_id = $1 and id = $2`,
    [threadId, runId],
  );
  return row;
}

/** Notes for what a queued, unclaimed run waits. Returns false if it is no longer queued. */
export async function awaitLimit(
  db: Database,
  { thread_id, run_id, enqueue_no }: QueuedRun,
  limitedBy: JsonObject,
): Promise<boolean> {
  const answer = (await call(db.query, 'await_limit', {
    threadId: thread_id,
    runId: run_id,
    enqueueNo: enqueue_no,
    limitedBy,
  })) as { waits: boolean };
  return noticed(db, answer).waits;
}

export interface Delay {
  delayed: boolean;
  cancel_requested?: boolean;
}

/** Returns a run to the queue until a limit lets it continue: see `delay_run`. */
export async function delayRun(db: Database, run: HeldLease, limitedBy: JsonObject): Promise<Delay> {
  const result = (await call(db.queryLocking, 'delay_run', {
    threadId: run.threadId,
    runId: run.runId,
    lease: run.lease,
    limitedBy,
  })) as Delay;
  return noticed(db, result);
}
