import type { Counting } from '../../agent/models/counting.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readLimitedRun } from '../../database/store/limit/limited-run.ts';
import type { LimitGate } from './gate.ts';
import { spentBy, priceAt, type RunUse, type LimitedRun } from './limited-run.ts';
import { RunLimits } from './run-limits.ts';

interface Settling {
  db: Database;
  gate: LimitGate;
  counting: Pick<Counting, 'priceOf'>;
}

/**
 * Closes the account of a run that has ended, for a process that did not execute it: what was reserved returns, and what
 * the run used is counted as its row says. The worker that made the last calls may have left before it settled them.
 */
export async function settleRun(
  { db, gate, counting }: Settling,
  { threadId, runId }: { threadId: string; runId: string },
): Promise<void> {
  if (gate.version === 0) return;
  const row = await readLimitedRun(db, threadId, runId);
  // its thread was erased
  if (!row) return gate.settle({ threadId, runId });
  if (!row.finishedAt) return;
  const { tenantId, limitKeys, priority, createdAt, ...used } = row;
  const run = {
    ...used,
    threadId,
    runId,
    tenant: tenantId,
    limitKeys: limitKeys ?? {},
    priority: priority ?? 0,
    createdAt: createdAt.toISOString(),
    // it will not wait again
    job: { queue: '', enqueue_no: 0, agent: row.agent },
  };
  await limitsFor(gate, counting, run, row).end(spentBy(run, row), { fresh: false });
}

/** The limits of a run that has used this much when it was claimed. */
export function limitsFor(
  gate: LimitGate,
  counting: Pick<Counting, 'priceOf'>,
  run: LimitedRun,
  used: RunUse,
  fresh = false,
): RunLimits {
  return new RunLimits(gate, run, priceAt(counting, new Date(run.createdAt)), spentBy(run, used), fresh);
}
