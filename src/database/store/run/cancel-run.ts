import type { RunStatus } from './types.ts';
import { call } from '../call.ts';
import { pseudonym } from '../../../base/checks/ids.ts';
import type { Database } from '../../postgres/pool.ts';
import { notifyFromHere } from '../each-thread.ts';
import type { QueuedRun } from './queued-run.ts';
import { noticed } from '../call-function.ts';

export interface CancelReceipt {
  status: RunStatus;
  /** False: the run had already ended. */
  accepted: boolean;
  /** The next run of the thread, if this one ended at once. */
  promoted?: QueuedRun;
}

export async function cancelRun(db: Database, threadId: string, runId: string, reason: string): Promise<CancelReceipt> {
  const result = (await call(db.queryLocking, 'cancel_run', { threadId, runId, reason })) as CancelReceipt;
  if (result.status === 'running' && result.accepted)
    await notifyFromHere(db, 'lanefold_cancel', pseudonym(threadId, runId));
  return noticed(db, result);
}
