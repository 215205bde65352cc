import type { Counting } from '../../models/counting/counting.ts';
import type { Database } from '../../postgres/pool.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { findIdleAccounts, findUnlinedRuns } from '../../store/limit/find-accounts.ts';
import { readLimitedRun, type LimitedRunRow } from '../../store/limit/limited-run.ts';
import type { LimitGate } from '../limits/gate.ts';
import { limitsFor, spentBy } from '../limits/limits-for.ts';

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
    const row = await readLimitedRun(db, threadId, runId);
    if (!row) await gate.settle({ threadId, runId });
    else if (row.finishedAt) await settleEnded(gate, counting, { threadId, runId, ...row }).catch(onError);
  }
  for (const job of await findUnlinedRuns(db, queue.prefix)) {
    await queue.wake({ ...job, queue: queue.queueOf(job).name });
  }
  await gate.check();
}

async function settleEnded(
  gate: LimitGate,
  counting: Counting,
  { tenantId, limitKeys, priority, createdAt, ...row }: LimitedRunRow & { threadId: string; runId: string },
): Promise<void> {
  const run = {
    ...row,
    ...{ tenant: tenantId, limitKeys: limitKeys ?? {}, priority: priority ?? 0, createdAt: createdAt.toISOString() },
    // it will not wait again
    job: { queue: '', enqueue_no: 0, agent: row.agent },
  };
  await limitsFor(gate, counting, run, row).end(spentBy(run, row), { fresh: false });
}
