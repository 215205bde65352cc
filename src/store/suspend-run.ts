import type { Database } from '../postgres/pool.ts';
import type { HeldRun } from '../runtime/run/held-run.ts';

/**
 * Lets the run wait for approval of some calls of a round.
 *
 * @returns `suspended`; `cancelled` where the acknowledgement was lost and the run was ended since; undefined where it is
 * to be cancelled, and nothing was written
 */
export async function suspendRun(
  db: Database,
  run: HeldRun,
  wait: { round: number; awaiting: number[]; timeoutMs: number },
): Promise<'suspended' | 'cancelled' | undefined> {
  const { round, awaiting, timeoutMs } = wait;
  const [row] = await run.persist(() =>
    db.query<{ result: { step: number; status: string; cancel_requested?: boolean } }>(
      'suspend_run',
      'select lanefold.suspend_run($1, $2, $3, $4, $5) as result',
      [run.threadId, run.runId, run.lease, run.step, { round, awaiting, timeout_ms: timeoutMs }],
    ),
  );
  run.step = row!.result.step;
  if (row!.result.cancel_requested) return undefined;
  // decided since, and perhaps queued again: to this worker it waits
  return row!.result.status === 'cancelled' ? 'cancelled' : 'suspended';
}
