import type { Counting } from '../../models/counting/counting.ts';
import type { Database } from '../../postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { findIdleAccounts, findUnlinedRuns } from '../../store/limit/find-accounts.ts';
import type { LimitGate } from '../limits/gate.ts';
import { settleRun } from '../limits/settle-run.ts';

/**
 * Repairs what processes left that died between a run and its limits: settles the accounts of runs that have ended,
 * wakes delayed runs that are not in line, and looks whether those in line may go on.
 */
export async function sweepLimits(
  db: Database,
  queue: RunQueue,
  gate: LimitGate,
  counting: Counting,
  onError: (error: unknown) => void,
): Promise<void> {
  await gate.refresh();
  if (gate.version === 0) return;
  for (const { thread_id: threadId, run_id: runId } of await findIdleAccounts(db)) {
    await settleRun({ db, gate, counting }, { threadId, runId }).catch(onError);
  }
  for (const job of await findUnlinedRuns(db, queue.prefix)) {
    await queue.wake({ ...job, queue: queue.queueOf(job).name });
  }
  await gate.check();
}
