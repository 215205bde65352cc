import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import type { QueuedRun } from '../run/queued-run.ts';
import type { HeldLease } from '../run/renew-leases.ts';
import { noticed } from '../call-function.ts';

export interface Suspension {
  round: number;
  /** Indexes of the calls that wait for approval; those that wait for something else are recorded already. */
  approvals: number[];
  timeoutMs: number;
}

export interface SuspendResult {
  step: number;
  status: string;
  /** Everything it waited for had come already: the run needs a job. */
  job?: QueuedRun;
  /** Cancellation of the run was requested; nothing was written. */
  cancel_requested?: boolean;
}

/** Suspends a run until nothing keeps its calls waiting; meanwhile no worker holds it. */
export async function suspendRun(
  db: Database,
  run: HeldLease,
  { round, approvals, timeoutMs }: Suspension,
): Promise<SuspendResult> {
  const result = (await call(db.queryLocking, 'suspend_run', {
    threadId: run.threadId,
    runId: run.runId,
    lease: run.lease,
    step: run.step,
    p: { round, approvals, timeout_ms: timeoutMs },
  })) as SuspendResult;
  return noticed(db, result);
}
