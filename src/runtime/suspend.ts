import type { Database } from '../postgres/pool.ts';
import type { HeldRun } from './held-run.ts';

/** Lets the run wait for approval of some calls of a round. False: it is to be cancelled, and nothing was written. */
export async function suspendRun(
  db: Database,
  run: HeldRun,
  wait: { round: number; awaiting: number[]; timeoutMs: number },
): Promise<boolean> {
  const { round, awaiting, timeoutMs } = wait;
  const [row] = await run.persist(() =>
    db.query<{ result: { step: number; cancel_requested?: boolean } }>(
      'suspend_run',
      'select lanefold.suspend_run($1, $2, $3, $4, $5) as result',
      [run.threadId, run.runId, run.lease, run.step, { round, awaiting, timeout_ms: timeoutMs }],
    ),
  );
  run.step = row!.result.step;
  return row!.result.cancel_requested !== true;
}
