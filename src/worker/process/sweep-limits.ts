import type { Counting } from '../../agent/models/counting/counting.ts';
import { findUnattendedIn } from '../../runs/fleet/unattended.ts';
import type { Database } from '../../database/postgres/pool.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import { findHoldingAccounts, findIdleAccounts, findUnlinedRuns } from '../../database/store/limit/find-accounts.ts';
import type { LimitGate } from '../../runs/limiter/gate.ts';
import { settleRun } from '../../runs/limiter/settle-run.ts';

/**
 * Repairs what processes left that died between a run and its limits: settles the accounts of runs that have ended,
 * returns the slots of runs that no live worker can execute while other runs wait for them, wakes delayed runs that are
 * not in line, and looks which runs in line are next.
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
  const holding = await findHoldingAccounts(db, idleMs);
  const runs = holding.map(({ thread_id: threadId, run_id: runId }) => ({ threadId, runId }));
  for (const { threadId, runId } of runs.length > 0 ? await findUnattendedIn(db, db)(runs) : []) {
    await gate.use({ thread_id: threadId, run_id: runId, pause: true, idle_ms: idleMs });
  }
  for (const job of await findUnlinedRuns(db, queue.prefix)) {
    await queue.wake({ ...job, queue: queue.queueOf(job).name });
  }
  await gate.check();
}

/** An account of a run that a worker has just claimed is not idle. */
const idleMs = 5_000;
