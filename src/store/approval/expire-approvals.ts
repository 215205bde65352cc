import type { Database } from '../../postgres/pool.ts';
import type { SweepLimits } from '../run/sweep-limits.ts';
import type { QueuedRun } from '../run/queued-run.ts';

/**
 * Denies the calls of a suspended run whose time is over. Returns the job it needs; undefined where there is nothing
 * left to do, or a writer holds the thread.
 */
export async function expireApprovals(
  db: Database,
  run: QueuedRun,
  { queuePrefix, adoptMs }: Pick<SweepLimits, 'queuePrefix' | 'adoptMs'>,
): Promise<QueuedRun | undefined> {
  const [row] = await db.query<{ job: QueuedRun | null }>(
    'expire_approvals',
    'select lanefold.expire_approvals($1, $2, $3, $4) as job',
    [run.thread_id, run.run_id, queuePrefix, adoptMs],
  );
  return row!.job ?? undefined;
}
