import type { Database } from '../../postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { findIdleAccounts, findUnlinedRuns } from '../../store/limit/find-accounts.ts';
import { readRun } from '../../store/run/read-run.ts';
import type { LimitGate } from '../limits/gate.ts';

/**
 * Repairs what processes left that died between a run and its limits: settles accounts of runs that have ended, wakes
 * delayed runs that are not in line, and looks whether those in line may go on.
 */
export async function sweepLimits(db: Database, queue: RunQueue, gate: LimitGate): Promise<void> {
  await gate.refresh();
  if (gate.version === 0) return;
  for (const { thread_id, run_id } of await findIdleAccounts(db)) {
    const run = await readRun(db, thread_id, run_id);
    if (!run || run.finishedAt) await gate.settle({ thread_id, run_id }, run);
  }
  for (const job of await findUnlinedRuns(db, queue.prefix)) {
    await queue.wake({ ...job, queue: queue.queueOf(job).name });
  }
  await gate.check();
}
