import type { RunStatus } from './types.ts';
import { pseudonym } from '../../../base/checks/ids.ts';
import type { Database } from '../../postgres/pool.ts';
import { notifyFromHere } from '../each-thread.ts';
import type { QueuedRun } from './queued-run.ts';
import { noticed } from '../delivery-notices.ts';

export interface CancelReceipt {
  status: RunStatus;
  /** False: the run had already ended. */
  accepted: boolean;
  /** The next run of the thread, if this one ended at once. */
  promoted?: QueuedRun;
}

export async function cancelRun(db: Database, threadId: string, runId: string, reason: string): Promise<CancelReceipt> {
  const [row] = await db.queryLocking<{ result: CancelReceipt }>(
    'cancel_run',
    'select lanefold.cancel_run($1, $2, $3) as result',
    [threadId, runId, reason],
  );
  if (row!.result.status === 'running' && row!.result.accepted)
    await notifyFromHere(db, 'lanefold_cancel', pseudonym(threadId, runId));
  return noticed(db, row!.result);
}
